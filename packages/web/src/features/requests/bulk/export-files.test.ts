import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../../../fixtures/sample-request.ts';
import { exportFile, fixtureName, rawMessage } from './export-files.ts';

const CAPTURE_URL = 'http://localhost:3000/h/abc';
const text = (bytes: Uint8Array): string => new TextDecoder('latin1').decode(bytes);

const chunked = sampleRequest(12, {
  path: '/orders/create',
  rawTarget: '/orders/create?a=%7e',
  rawHeaders: [
    ['Host', 'x'],
    ['transfer-encoding', 'chunked'],
    ['X-Name', 'caf\u00e9'],
    ['Trailer', 'X-Sum'],
  ],
  body: 'AP8=',
  bodyEncoding: 'base64',
  size: 2,
});

test('a raw message has the headers as received, a length instead of chunks, and the exact bytes', () => {
  expect(text(rawMessage(chunked, CAPTURE_URL))).toBe(
    'POST /h/abc/orders/create?a=%7e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nX-Name: caf\u00e9\r\n\r\n\u0000\u00ff',
  );
});

test('the zip has one file per request, in the order of capture', async () => {
  const parts = exportFile('zip', [sampleRequest(3, { method: 'GET' }), chunked], CAPTURE_URL);
  const files = unzipSync(new Uint8Array(await new Blob([...parts]).arrayBuffer()));
  expect(Object.keys(files)).toEqual(['000003-GET.http', '000012-POST-orders-create.http']);
  expect(files['000012-POST-orders-create.http']).toEqual(rawMessage(chunked, CAPTURE_URL));
});

test.each([
  ['/../../etc/passwd', '000001-PUT-etc-passwd.http'],
  ['/a\u00e9/%2e%2e/b?', '000001-PUT-a-2e-2e-b.http'],
  [`/${'x'.repeat(300)}`, `000001-PUT-${'x'.repeat(60)}.http`],
])('the name of a fixture is safe as a file name: %s', (path, name) => {
  expect(fixtureName({ index: 1, method: 'PUT', path })).toBe(name);
});

test('JSON lines and HAR have exact bodies', async () => {
  const lines = await new Blob([...exportFile('jsonl', [chunked, sampleRequest(1)], CAPTURE_URL)]).text();
  expect(
    lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).body),
  ).toEqual(['AP8=', null]);
  const har = JSON.parse(await new Blob([...exportFile('har', [chunked], CAPTURE_URL)]).text());
  expect(har.log.entries[0].request.postData).toMatchObject({ text: 'AP8=', encoding: 'base64' });
});
