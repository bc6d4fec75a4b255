import { createServer } from 'node:tls';
import { expect, test, vi } from 'vitest';
import { listenLocally } from '../../../../../fixtures/listen-locally.ts';
import { selfSigned } from '../../../test/self-signed.ts';
import { sendRequest } from './send-request.ts';
import { lookUpOnSystem } from './target.ts';

/** A target with this TLS certificate, and the result of a replay to it. */
async function replayOver(certificate: { cert: string; key: string }): Promise<{ message: string; heard: string }> {
  let heard = '';
  const server = createServer(certificate, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      heard += piece.toString('latin1');
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  server.on('tlsClientError', () => undefined);
  const port = await listenLocally(server);
  const request = {
    method: 'GET',
    url: `https://127.0.0.1:${port}/secret`,
    headers: [],
    body: Buffer.alloc(0),
    userAgent: 'Creel/test',
    allowPrivate: true,
    maxMs: 5000,
  };
  const message = await sendRequest(request, new AbortController().signal, lookUpOnSystem).then(
    ({ status }) => String(status),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await new Promise((resolve) => server.close(resolve));
  return { message, heard };
}

test.each([
  ['its own, with the right address', selfSigned('127.0.0.1'), /self-signed/],
  ['its own, for another address', selfSigned('192.0.2.1'), /self-signed|another name/],
])('a certificate that is %s is not taken, and nothing is sent', async (_what, certificate, sentence) => {
  const { message, heard } = await replayOver(certificate);
  expect(message).toMatch(sentence);
  expect(heard).toBe('');
});

test('certificates are also checked where the environment turns this off for Node', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { message, heard } = await replayOver(selfSigned('127.0.0.1')).finally(() => vi.unstubAllEnvs());
  expect(message).toMatch(/self-signed/);
  expect(heard).toBe('');
});
