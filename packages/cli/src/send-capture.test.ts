import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import { sampleRequest } from '../../../fixtures/sample-request.ts';
import { UsageError } from './cli-error.ts';
import { destinationPath, parseDestination, sendCapture } from './send-capture.ts';

test('a response that never ends is cut off after the time limit', async () => {
  const server = createServer((_request, response) => {
    const more = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(more));
  });
  const url = new URL(`http://127.0.0.1:${await listenLocally(server)}/`);
  const result = await sendCapture(sampleRequest(1), {
    destination: url,
    body: Buffer.from('x'),
    signal: new AbortController().signal,
    maxResponseMs: 2000,
  });
  expect(result).toMatchObject({ kind: 'answered', status: 200 });
  await new Promise((resolve) => server.close(resolve));
});

test('https to a port that does not speak it fails with a sentence', async () => {
  const server = createServer();
  const destination = new URL(`https://127.0.0.1:${await listenLocally(server)}/`);
  const { signal } = new AbortController();
  const result = await sendCapture(sampleRequest(1), { destination, body: Buffer.from('x'), signal });
  expect(result).toMatchObject({ kind: 'unreached', reason: 'its port does not speak https' });
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  ['http://localhost:4000', '', '/'],
  ['http://localhost:4000/', '/', '/'],
  ['http://localhost:4000', '/a/../b%2f?x=%zz', '/a/../b%2f?x=%zz'],
  ['http://localhost:4000/hooks', '', '/hooks'],
  ['http://localhost:4000/hooks', '?a=b', '/hooks?a=b'],
  ['http://localhost:4000/hooks', '/a?b', '/hooks/a?b'],
  ['http://localhost:4000/hooks/', '/a', '/hooks/a'],
  ['http://localhost:4000/hooks/', '', '/hooks/'],
  ['http://localhost:4000/hooks?token=1', '', '/hooks?token=1'],
  ['http://localhost:4000/hooks?token=1', '/a', '/hooks/a?token=1'],
  ['http://localhost:4000/hooks?token=1', '/a?x=2?y', '/hooks/a?token=1&x=2?y'],
  ['http://localhost:4000/hooks?token=1', '?', '/hooks?token=1'],
  ['http://localhost:4000/hooks', '/a#b?x=#y', '/hooks/a#b?x=#y'],
])('destination %s and target %j make %s', (destination, rawTarget, path) => {
  expect(destinationPath(parseDestination(destination), rawTarget)).toBe(path);
});

test.each(['', 'localhost:4000', 'ftp://localhost', 'http://', 'http://user:secret@localhost/'])(
  '%j is not a destination',
  (text) => {
    expect(() => parseDestination(text)).toThrow(UsageError);
  },
);
