import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { chunked, exchange, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { expectCaptured, expectKept, expectUnharmed, indexOf, startWireApp } from '../../../test/wire-app.ts';

/** Bodies on raw sockets, read back equal as JSON and as bytes (docs/api.md, "Captured requests"). */
const app = await startWireApp();
afterAll(() => app.server.stop());

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
const bytes = (...hex: string[]): Buffer => Buffer.from(hex.join(''), 'hex');

function multipart(parts: number): Buffer {
  const one = (at: number): string =>
    `--b\r\nContent-Disposition: form-data; name="part${at}"\r\n\r\n\0value ${at}\xff\r\n`;
  return Buffer.from(`${Array.from({ length: parts }, (_, at) => one(at)).join('')}--b--\r\n`, 'latin1');
}

describe('stored byte for byte', () => {
  const cases: [string, Buffer, string?][] = [
    ['empty', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['one NUL', bytes('00')],
    ['every byte value', everyByte, 'application/octet-stream'],
    ['text with NUL', Buffer.from('before\0after\0')],
    ['JSON with an escaped NUL', Buffer.from('{"a":"\\u0000"}'), 'application/json'],
    ['JSON with a raw NUL', Buffer.from('{"a":"\0"}'), 'application/json'],
    ['JSON with a lone surrogate, escaped', Buffer.from('{"a":"\\ud800"}'), 'application/json'],
    [
      'JSON with __proto__',
      Buffer.from('{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}'),
      'application/json',
    ],
    [
      'JSON with duplicate keys and odd numbers',
      Buffer.from('{"a":1,"a":2,"b":1e400,"c":12345678901234567890,"d":1.0,"e":-0}'),
      'application/json',
    ],
    ['bad JSON', Buffer.from('{"a":'), 'application/json'],
    ['overlong UTF-8', bytes('c0af', 'e08080', 'f0808080')],
    ['a surrogate in UTF-8', bytes('eda080')],
    ['UTF-8 cut in a character', bytes('61', 'f09f8c')],
    ['beyond U+10FFFF', bytes('f4908080', 'f8888080', 'fe', 'ff')],
    ['UTF-8 with a byte order mark', bytes('efbbbf', '7b7d')],
    ['only a byte order mark', bytes('efbbbf')],
    ['UTF-16 with a byte order mark', Buffer.concat([bytes('fffe'), Buffer.from('Ω hello', 'utf16le')])],
    ['four-byte characters', Buffer.from('🌊🏴‍☠️ Ω ß \u{10ffff}')],
    ['line ends of every kind', Buffer.from('a\r\nb\nc\rd\u2028e\u0085\r\n')],
    ['CRLF only', Buffer.from('\r\n')],
    ['what looks like a request', Buffer.from('GET /h/x HTTP/1.1\r\nHost: y\r\n\r\n')],
    ['what looks like chunks', Buffer.from('5\r\nhello\r\n0\r\n\r\n')],
    ['multipart of 1,000 parts', multipart(1000), 'multipart/form-data; boundary=b'],
    ['multipart without its boundary', multipart(3), 'multipart/form-data'],
    ['16 KiB, the size of a preview', Buffer.alloc(16 * 1024, 'a')],
    ['16 KiB and one, cut inside a character', Buffer.from(`${'a'.repeat(16 * 1024 - 1)}é`)],
    ['1 MiB of every byte', Buffer.alloc(1024 * 1024, everyByte)],
  ];
  test.each(cases)('%s', async (_, body, type) => {
    await expectCaptured(app, { body, headers: type === undefined ? [] : [['Content-Type', type]] });
  });

  test.each(['GET', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'])('%s with a body', async (method) => {
    await expectCaptured(app, { method, body: Buffer.from('a body all the same') });
  });

  test('lists truncate the text at 16 KiB and a whole character, and mark it', async () => {
    const body = Buffer.from(`${'a'.repeat(16 * 1024 - 1)}é${'b'.repeat(50)}`);
    const index = await expectCaptured(app, { body });
    const listed = (await app.owner.unsaved(app.endpoint.uid)).find((request) => request.index === index);
    expect(listed).toMatchObject({
      bodyTruncated: true,
      bodyEncoding: 'utf8',
      size: body.length,
      body: 'a'.repeat(16 * 1024 - 1),
    });
  });

  test('the download is an attachment with a type that never runs and is never sniffed', async () => {
    const index = await expectCaptured(app, {
      body: Buffer.from('<script>alert(1)</script>'),
      headers: [['Content-Type', 'text/html']],
    });
    const answer = await app.owner.send(`/api/endpoints/${app.endpoint.uid}/requests/${-1_000_000 - index}/body`);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-type')).not.toMatch(/html|xml|svg|javascript/);
  });
});

describe('JSON too deep or too big to parse is only bytes', () => {
  test.each([
    ['100,000 deep', () => Buffer.from('['.repeat(100_000) + ']'.repeat(100_000))],
    ['1,000,000 deep', () => Buffer.from('{"a":'.repeat(1_000_000))],
    [
      '1,000,000 keys',
      () => Buffer.from(`{${Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":${at}`).join(',')}}`),
    ],
    ['a text of 10 MB', () => Buffer.from(`"${'x'.repeat(10_000_000)}"`)],
  ])('%s', async (_, make) => {
    await expectCaptured(app, { body: make(), headers: [['Content-Type', 'application/json']] });
  });
});

describe('compressed bodies stay compressed', () => {
  const zeros = Buffer.alloc(50_000_000);
  // The default quality takes two seconds.
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  test.each([
    ['gzip', () => gzipSync(zeros)],
    ['gzip, gzip', () => gzipSync(gzipSync(zeros))],
    ['deflate', () => deflateSync(zeros)],
    ['br', () => brotliCompressSync(zeros, quick)],
    ['zstd', () => zstdCompressSync(zeros)],
    ['gzip', () => Buffer.from('not gzip at all')],
  ])('%s', async (coding, make) => {
    await expectCaptured(app, {
      body: make(),
      headers: [
        ['Content-Encoding', coding],
        ['Content-Type', 'application/json'],
      ],
    });
  });
});

describe('the transfer coding is removed, and nothing else', () => {
  const body = Buffer.concat([everyByte, Buffer.from('\r\n0\r\n\r\n'), Buffer.alloc(5000, 'tail')]);
  const sendChunked = (lines: string[], coded: Buffer) =>
    exchange({ port: app.server.port }, rawRequest([`POST ${app.base}/chunks HTTP/1.1`, 'Host: h', ...lines], coded));

  test.each([1, 7, 1000, 100_000])('chunks of %d bytes', async (size) => {
    const index = indexOf(await sendChunked(['Transfer-Encoding: chunked'], chunked(body, size)));
    await expectKept(app, index, {
      method: 'POST',
      path: '/chunks',
      rawHeaders: [
        ['Host', 'h'],
        ['Transfer-Encoding', 'chunked'],
      ],
      body,
    });
  });

  test('no chunk but the last', async () => {
    const index = indexOf(await sendChunked(['Transfer-Encoding: chunked'], Buffer.from('0\r\n\r\n')));
    await expectKept(app, index, {
      method: 'POST',
      path: '/chunks',
      rawHeaders: [
        ['Host', 'h'],
        ['Transfer-Encoding', 'chunked'],
      ],
      body: Buffer.alloc(0),
    });
  });

  test('chunk extensions, upper-case sizes, leading zeros and trailers', async () => {
    const coded = Buffer.from('0A;name=value;other="x y"\r\n0123456789\r\n0000\r\nX-Checksum: 1\r\n\r\n');
    const index = indexOf(await sendChunked(['Transfer-Encoding: CHUNKED', 'Trailer: X-Checksum'], coded));
    expect(await app.owner.captured(app.endpoint.uid, index)).toMatchObject({ body: '0123456789', size: 10 });
  });

  test('a chunked gzip body is stored without its chunks, still compressed, and with its header', async () => {
    const inside = gzipSync('hello');
    const index = indexOf(await sendChunked(['Transfer-Encoding: gzip, chunked'], chunked(inside, 5)));
    await expectKept(app, index, {
      method: 'POST',
      path: '/chunks',
      rawHeaders: [
        ['Host', 'h'],
        ['Transfer-Encoding', 'gzip, chunked'],
      ],
      body: inside,
    });
  });
});

test('after these requests the server still works', async () => {
  await expectUnharmed(app);
});
