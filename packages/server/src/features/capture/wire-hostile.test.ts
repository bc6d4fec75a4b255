import { afterAll, describe, expect, test } from 'vitest';
import { openRaw } from '../../../../../fixtures/raw-http.ts';
import { expectUnharmed, indexOf, startWireApp } from '../../../test/wire-app.ts';

/** Invalid or ambiguous HTTP is rejected, the connection is closed, and nothing is stored (docs/api.md, "Capture"). */
const app = await startWireApp();
afterAll(() => app.server.stop());

const CHUNK = '2\r\nab\r\n0\r\n\r\n';

/** `{t}` is the endpoint's path; `\n` inside a line is literal. */
const post = (lines: readonly string[], body = ''): string =>
  `POST {t} HTTP/1.1\r\nHost: h\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
const te = (body: string): string => post(['Transfer-Encoding: chunked'], body);

const refused: [string, number[], string][] = [
  ['Content-Length and Transfer-Encoding', [400], post(['Content-Length: 12', 'Transfer-Encoding: chunked'], CHUNK)],
  ['Transfer-Encoding and Content-Length', [400], post(['Transfer-Encoding: chunked', 'Content-Length: 12'], CHUNK)],
  ['two Content-Length, equal', [400], post(['Content-Length: 2', 'Content-Length: 2'], 'ab')],
  ['two Content-Length, different', [400], post(['Content-Length: 2', 'Content-Length: 3'], 'abc')],
  ['a list as Content-Length', [400], post(['Content-Length: 2, 2'], 'ab')],
  ['Content-Length: +2', [400], post(['Content-Length: +2'], 'ab')],
  ['Content-Length: -1', [400], post(['Content-Length: -1'], 'ab')],
  ['Content-Length: 0x2', [400], post(['Content-Length: 0x2'], 'ab')],
  ['Content-Length: 2a', [400], post(['Content-Length: 2a'], 'ab')],
  ['Content-Length without a value', [400], post(['Content-Length:'], 'ab')],
  ['Content-Length of 20 digits', [400], post(['Content-Length: 99999999999999999999'], 'ab')],
  ['Content-Length beyond 2^53', [413], post(['Content-Length: 9007199254740993'], 'ab')],
  ['Content-Length of 2^64 - 1', [413], post(['Content-Length: 18446744073709551615'], 'ab')],
  ['Transfer-Encoding: xchunked', [400], post(['Transfer-Encoding: xchunked'], CHUNK)],
  ['Transfer-Encoding: identity', [400], post(['Transfer-Encoding: identity'], 'ab')],
  ['Transfer-Encoding: chunked, gzip', [400], post(['Transfer-Encoding: chunked, gzip'], CHUNK)],
  ['Transfer-Encoding: chunked, chunked', [400], post(['Transfer-Encoding: chunked, chunked'], CHUNK)],
  ['Transfer-Encoding twice', [400], post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], CHUNK)],
  ['Transfer-Encoding with a vertical tab', [400], post(['Transfer-Encoding: \x0bchunked'], CHUNK)],
  ['Transfer-Encoding with a space before the colon', [400], post(['Transfer-Encoding : chunked'], CHUNK)],
  [
    'Transfer-Encoding on HTTP/1.0',
    [400],
    `POST {t} HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}`,
  ],
  ['bare LF line ends', [400], 'POST {t} HTTP/1.1\nHost: h\nContent-Length: 2\n\nab'],
  ['one bare LF', [400], 'POST {t} HTTP/1.1\r\nHost: h\nContent-Length: 2\r\n\r\nab'],
  ['bare CR line ends', [400], 'POST {t} HTTP/1.1\rHost: h\r\r'],
  ['NUL in a value', [400], post(['X-A: a\0b', 'Content-Length: 0'])],
  ['a control character in a value', [400], post(['X-A: a\x01b', 'Content-Length: 0'])],
  ['a folded header', [400], post(['X-A: a', ' b', 'Content-Length: 0'])],
  ['HTTP/1.1 without Host', [400], 'POST {t} HTTP/1.1\r\nContent-Length: 0\r\n\r\n'],
  ['two Host, different', [400], post(['Host: other', 'Content-Length: 0'])],
  ['two Host, equal', [400], post(['host: h', 'Content-Length: 0'])],
  ['two Host on HTTP/1.0', [400], 'POST {t} HTTP/1.0\r\nHost: h\r\nHost: other\r\nContent-Length: 0\r\n\r\n'],
  ['an empty header name', [400], post([': x', 'Content-Length: 0'])],
  ['a space in a header name', [400], post(['X A: x', 'Content-Length: 0'])],
  ['a latin1 header name', [400], post(['X-\xe9: x', 'Content-Length: 0'])],
  ['a header without a colon', [400], post(['abc', 'Content-Length: 0'])],
  ['raw UTF-8 in the path', [400], 'POST {t}/\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n'],
  ['an unknown method', [400], 'FOO {t} HTTP/1.1\r\nHost: h\r\n\r\n'],
  ['the HTTP/2 preface', [400], 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/9.9', [400], 'POST {t} HTTP/9.9\r\nHost: h\r\n\r\n'],
  ['HTTP/2.0', [400], 'POST {t} HTTP/2.0\r\nHost: h\r\n\r\n'],
  ['no version', [400], 'POST {t}\r\nHost: h\r\nContent-Length: 0\r\n\r\n'],
  ['no version, and text behind the head', [400], 'POST {t}\n\r\n HTTP/1.1\r\nHost: h\r\n'],
  ['lower-case http', [400], 'POST {t} http/1.1\r\nHost: h\r\n\r\n'],
  ['a chunk size of 17 digits', [400], te(`${'f'.repeat(17)}\r\nab`)],
  ['a negative chunk size', [400], te('-2\r\nab\r\n0\r\n\r\n')],
  ['a chunk size with 0x', [400], te('0x2\r\nab\r\n0\r\n\r\n')],
  ['a chunk longer than its size', [400], te('2\r\nabc\r\n0\r\n\r\n')],
  ['chunks split by bare LF', [400], te('2\nab\n0\n\n')],
  ['a chunk extension of 20 KB', [400, 413], te(`2;${'a'.repeat(20_000)}\r\nab\r\n0\r\n\r\n`)],
  ['a proxy hello', [400], 'PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\nPOST {t} HTTP/1.1\r\nHost: h\r\n\r\n'],
];

/** Sends the bytes and waits for the end of the connection. Returns the response, if any. */
async function abuse(bytes: string) {
  const connection = await openRaw({ port: app.server.port });
  connection.send(bytes.replaceAll('{t}', app.base)).catch(() => {});
  const answer = await connection.final();
  const rest = await connection.closed();
  return { answer, rest: rest.toString('latin1') };
}

describe('rejected with a problem, and the connection is closed', () => {
  test.each(refused)('%s', async (_, statuses, bytes) => {
    const before = await app.owner.stored(app.endpoint.uid);
    const { answer, rest } = await abuse(bytes);
    expect(statuses).toContain(answer.status);
    expect(answer.header('connection')?.toLowerCase()).toBe('close');
    expect(answer.header('content-type')).toMatch(/^application\/json/);
    expect(JSON.parse(answer.body.toString('utf8'))).toMatchObject({
      error: expect.any(String),
      message: expect.any(String),
      code: expect.stringMatching(/^[A-Z_]+$/),
    });
    expect(rest).toBe('');
    expect(await app.owner.stored(app.endpoint.uid)).toBe(before);
  });
});

describe('nothing is smuggled after a rejected request', () => {
  test.each(refused.filter(([name]) => /Content-Length|Transfer-Encoding|chunk|Host/.test(name)))(
    '%s',
    async (_, _statuses, bytes) => {
      const before = await app.owner.stored(app.endpoint.uid);
      const { rest } = await abuse(`${bytes}POST {t}/smuggled HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n`);
      expect(rest).toBe('');
      expect(await app.owner.stored(app.endpoint.uid)).toBe(before);
    },
  );
});

describe('garbage after complete requests, in one packet', () => {
  test.each([1, 3])(
    '%i of them: each is stored and acknowledged in order, then the garbage is rejected',
    async (count) => {
      const before = await app.owner.stored(app.endpoint.uid);
      const connection = await openRaw({ port: app.server.port });
      const good = post(['Content-Length: 2'], 'ab').replaceAll('{t}', app.base).repeat(count);
      await connection.send(`${good}\x00\x01rubbish\r\n\r\n`);
      for (let nth = 0; nth < count; nth += 1) indexOf(await connection.final());
      const refusal = await connection.final();
      expect(refusal.status).toBe(400);
      expect(refusal.header('connection')).toBe('close');
      expect(await connection.closed()).toHaveLength(0);
      expect(await app.owner.stored(app.endpoint.uid)).toBe(before + count);
    },
  );
});

test('garbage after a request that closes the connection is ignored', async () => {
  const before = await app.owner.stored(app.endpoint.uid);
  const connection = await openRaw({ port: app.server.port });
  await connection.send(
    `${post(['Connection: close', 'Content-Length: 2'], 'ab').replaceAll('{t}', app.base)}\x00\x01rubbish\r\n\r\n`,
  );
  indexOf(await connection.final());
  expect(await connection.closed()).toHaveLength(0);
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before + 1);
});

describe('not HTTP', () => {
  test.each([
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex')],
    ['SSH', Buffer.from('SSH-2.0-OpenSSH_9.9\r\n')],
    ['zeros', Buffer.alloc(5000)],
    ['every byte', Buffer.from(Array.from({ length: 256 }, (_, value) => 255 - value))],
  ])('%s: closed', async (_, bytes) => {
    using connection = await openRaw({ port: app.server.port });
    connection.send(bytes).catch(() => {});
    expect((await connection.closed()).toString('latin1')).toMatch(/^$|^HTTP\/1\.1 400 /);
  });

  test('a connection that closes without data, half or whole', async () => {
    const half = await openRaw({ port: app.server.port });
    half.halfClose();
    await half.closed();
    const gone = await openRaw({ port: app.server.port });
    gone.reset();
    await expectUnharmed(app);
  });
});

test('after these requests the server still works', async () => {
  await expectUnharmed(app);
});
