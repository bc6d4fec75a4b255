import { createServer, METHODS } from 'node:http';
import { duplexPair } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { webhookFixtures } from '../../../../fixtures/webhooks/all.ts';
import { toRawHttp } from '../../../../fixtures/webhooks/webhook-fixture.ts';
import { makeDice } from '../../../../fixtures/dice.ts';
import type { Dice } from '../../../../fixtures/dice.ts';
import { mutate } from '../../test/mutate.ts';
import { readPlainHead } from './plain-request.ts';

/** A request as a reader understood it. */
interface Understood {
  readonly method: string;
  readonly target: string;
  readonly flatHeaders: readonly string[];
  /** As Latin-1, for readable differences. */
  readonly body: string;
  readonly keepsAlive: boolean;
}

/** The requests that Node's parser reads from the bytes, in order; `'refused'` after an error. */
async function readByNode(bytes: Buffer): Promise<(Understood | 'refused')[]> {
  const found: (Understood | 'refused')[] = [];
  const server = createServer(
    { requireHostHeader: false, maxHeaderSize: 64 * 1024 },
    (request, { shouldKeepAlive }) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { method = '', url = '', rawHeaders } = request;
        const body = Buffer.concat(parts).toString('latin1');
        found.push({ method, target: url, flatHeaders: rawHeaders, body, keepsAlive: shouldKeepAlive });
      });
    },
  );
  server.maxHeadersCount = 0;
  server.on('clientError', () => found.push('refused'));
  server.on('connect', () => found.push('refused'));
  const [near, far] = duplexPair();
  server.emit('connection', near);
  await new Promise<void>((resolve) => far.write(bytes, () => resolve()));
  await new Promise<void>((resolve) => setImmediate(resolve));
  far.destroy();
  near.destroy();
  return found;
}

/** The plain reader's result for bytes with exactly one request. */
function readPlain(bytes: Buffer): Understood | undefined {
  const request = readPlainHead(bytes);
  if (request === undefined || request.headLength + request.bodyLength !== bytes.length) return undefined;
  const { method, target, flatHeaders, headLength, keepsAlive } = request;
  return { method, target, flatHeaders, keepsAlive, body: bytes.toString('latin1', headLength) };
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const post = (lines: readonly string[], body = ''): Buffer =>
  bytesOf(`POST /h/abc HTTP/1.1\r\nHost: h\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`);

/** Accepted, and understood like Node's parser does. */
async function expectPlain(bytes: Buffer): Promise<Understood | undefined> {
  const plain = readPlain(bytes);
  expect(plain).toBeDefined();
  expect([plain]).toEqual(await readByNode(bytes));
  return plain;
}

describe('plain, and read like the parser does', () => {
  test.each<[string, Buffer]>([
    ['no body, no length', post([])],
    ['a length of zero', post(['Content-Length: 0'])],
    ['a body', post(['Content-Length: 4'], 'a\r\nb')],
    ['a body that holds the end of a head', post(['Content-Length: 8'], '\r\n\r\nabcd')],
    ['a body of bytes', post(['content-length: 4'], '\0\xff\xfe\x80')],
    ['a length with zeros in front', post(['Content-Length: 0004'], 'abcd')],
    ['a value in bytes', post(['X-A: gr\xfc\xdfe\xff\x80'])],
    ['repeats, cases and order', post(['x-b: 1', 'X-A: 2', 'X-b: 3', 'x-B: 1'])],
    ['empty values', post(['X-A:', 'X-B: ', 'X-C:\t', 'X-D:   \t '])],
    ['space around values', post(['X-A:1', 'X-B:  1  ', 'X-C:\t1\t', 'X-D: \t 1 2 \t '])],
    ['white space that is no space', post(['X-A: \xa0a\xa0', 'X-B: \x85'])],
    ['every character of a name', post(["!#$%&'*+-.^_`|~09azAZ: x"])],
    ['names as long as the ones that count', post(['abcd: 1', 'abcdef: 1', 'abcdefg: 1', 'abcdefghij: 1'])],
    ['colons in a value', post(['X-A: a:b: c'])],
    ['a connection that is kept', post(['Connection: keep-alive', 'Keep-Alive: timeout=5'])],
    ['a connection that is kept, in capitals', post(['connection:  Keep-Alive '])],
    ['a connection that ends', post(['Connection: Close', 'Content-Length: 1'], 'x')],
    ['a connection that is kept and ends', post(['Connection: keep-alive', 'connection: close'])],
    ['a connection that ends and is kept', post(['Connection: close', 'connection: keep-alive'])],
    ['what names a property', post(['__proto__: 1', 'constructor: 2', 'toString: 3'])],
    ['2,100 lines', post(Array.from({ length: 2100 }, () => 'a: b'))],
    ['our own cookies', post(['Cookie: creel_session=abc'])],
    ['an odd target', bytesOf('PUT /h/abc/../%2e//a?b=c&d[]="<\\^`{|}>?/ HTTP/1.1\r\nHost: h\r\n\r\n')],
    ['no uid', bytesOf('GET /h/ HTTP/1.1\r\nHost: h\r\n\r\n')],
    ['DELETE with a body', bytesOf('DELETE /h/abc HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx')],
    ['PATCH', bytesOf('PATCH /h/abc HTTP/1.1\r\nHost:\r\n\r\n')],
  ])('%s', async (_, bytes) => {
    expect(await expectPlain(bytes)).toBeDefined();
  });

  test.each(webhookFixtures.filter(({ body }) => body.length < 60_000).map((fixture) => [fixture.name, fixture]))(
    'the webhook %s',
    async (_, fixture) => {
      const bytes = toRawHttp(fixture, 'http://creel.example/h/abc');
      expect((await expectPlain(bytes))?.body).toBe(fixture.body.toString('latin1'));
    },
  );
});

describe('left to the parser', () => {
  const line = (first: string): Buffer => bytesOf(`${first}\r\nHost: h\r\n\r\n`);
  test.each<[string, Buffer]>([
    ['nothing', bytesOf('')],
    ['half a head', bytesOf('POST /h/abc HTTP/1.1\r\nHost: h\r\n')],
    ['half a body', post(['Content-Length: 4'], 'ab')],
    ['more than the body', post(['Content-Length: 4'], 'abcde')],
    ['a second request behind it', Buffer.concat([post([]), post([])])],
    ['a body without a length', post([], 'abcd')],
    ['an empty line in front', bytesOf('\r\nPOST /h/abc HTTP/1.1\r\nHost: h\r\n\r\n')],
    ['chunks', post(['Transfer-Encoding: chunked'], '2\r\nab\r\n0\r\n\r\n')],
    ['both framings', post(['Content-Length: 2', 'Transfer-Encoding: chunked'], 'ab')],
    ['two lengths', post(['Content-Length: 2', 'Content-Length: 2'], 'ab')],
    ['a signed length', post(['Content-Length: +2'], 'ab')],
    ['a list of lengths', post(['Content-Length: 2, 2'], 'ab')],
    ['a length without a value', post(['Content-Length:'])],
    ['a length in hexadecimal', post(['Content-Length: 0x2'], 'ab')],
    ['an Expect', post(['Expect: 100-continue', 'Content-Length: 2'], 'ab')],
    ['an Upgrade', post(['Connection: Upgrade', 'Upgrade: h2c'])],
    ['an Upgrade alone', post(['UPGRADE: websocket'])],
    ['an empty Connection', post(['Connection:'])],
    ['a connection header that names another', post(['Connection: keep-alive, X-A'])],
    ['Proxy-Connection', post(['Proxy-Connection: keep-alive'])],
    ['no Host', bytesOf('POST /h/abc HTTP/1.1\r\nX-A: b\r\n\r\n')],
    ['no header at all', bytesOf('POST /h/abc HTTP/1.1\r\n\r\n')],
    ['two Hosts', post(['host: h'])],
    ['a folded line', post(['X-A: a', ' b'])],
    ['a space before the colon', post(['X-A : a'])],
    ['a bare CR in a value', post(['X-A: a\rb'])],
    ['a bare LF in a value', post(['X-A: a\nX-B: b'])],
    ['NUL in a value', post(['X-A: a\0b'])],
    ['DEL in a value', post(['X-A: a\x7fb'])],
    ['a control character in a name', post(['X\x01A: b'])],
    ['a byte above ASCII in a name', post(['X-\xe9: b'])],
    ['a line without a colon', post(['abc'])],
    ['an empty name', post([': a'])],
    ['another place', line('GET /api/user HTTP/1.1')],
    ['the absolute form', line('GET http://h/h/abc HTTP/1.1')],
    ['a fragment', line('GET /h/abc#x HTTP/1.1')],
    ['a byte above ASCII in the target', line('GET /h/\xe9 HTTP/1.1')],
    ['a space in the target', line('GET /h/a b HTTP/1.1')],
    ['HTTP/1.0', line('GET /h/abc HTTP/1.0')],
    ['two spaces', line('GET  /h/abc HTTP/1.1')],
    ['space at the end', line('GET /h/abc HTTP/1.1 ')],
    ['a method in small letters', line('get /h/abc HTTP/1.1')],
    ...METHODS.filter((method) => !['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method)).map(
      (method): [string, Buffer] => [`the method ${method}`, line(`${method} /h/abc HTTP/1.1`)],
    ),
    ['a long head', post([`X-A: ${'a'.repeat(16 * 1024)}`])],
  ])('%s', (_, bytes) => {
    expect(readPlain(bytes)).toBeUndefined();
  });
});

describe('the reader and the parser', () => {
  const NAMES = ['Host', 'host', 'Content-Length', 'content-length', 'Transfer-Encoding', 'Connection', 'Upgrade'];
  const VALUES = ['h', '0', '3', '03', ' 3', '3 ', '3,3', '-3', 'chunked', 'keep-alive', 'close', 'x, keep-alive', ''];
  const NOISE = [...'\0\t\n\r !"#:\x7f\x80\xff', '\r\n', '\r\n\r\n', 'a', 'A'];

  /** A request of parts that are often valid and sometimes not. */
  function madeUp(dice: Dice): Buffer {
    const rarely = (part: string): string => (dice.roll() < 0.04 ? part + dice.pick(NOISE) : part);
    const fields = Array.from({ length: dice.below(5) }, () => {
      const [name, value] = dice.roll() < 0.5 ? ['X-A', 'b'] : [dice.pick(NAMES), dice.pick(VALUES)];
      return rarely(`${rarely(name)}:${rarely(dice.pick(['', ' ', '\t']))}${value}${dice.pick(['', '', ' '])}\r\n`);
    });
    const target = rarely('/h/abc') + rarely(dice.pick(['', '/', '/x?y=z', '?#', '/"<>\\^`{|}']));
    const first = `${dice.pick(['GET', 'POST', 'PUT', 'QUERY', 'HEAD'])} ${target} HTTP/1.${dice.pick(['1', '1', '0'])}`;
    return bytesOf(`${rarely(first)}\r\nHost: h\r\n${fields.join('')}\r\n${dice.pick(['', '', 'abc', 'abcd'])}`);
  }

  const seeds = [
    ...webhookFixtures
      .filter(({ body }) => body.length < 20_000)
      .map((one) => toRawHttp(one, 'http://c.example/h/abc')),
    post(['Content-Length: 3'], 'abc'),
    post(['Connection: keep-alive', 'X-A: \xe9', 'x-a:  b ', 'Content-Length: 0']),
    bytesOf('GET /h/abc/a?b=c HTTP/1.1\r\nHost: h\r\n\r\n'),
  ];

  test.each<[string, number, (dice: Dice) => Buffer]>([
    ['changed by a byte or three', 4000, (dice) => mutate(dice.pick(seeds), dice)],
    ['made up', 8000, madeUp],
  ])('agree on every request that is taken as plain: %s', async (_, count, make) => {
    const dice = makeDice(20_261_121);
    let taken = 0;
    for (let made = 0; made < count; made += 1) {
      const bytes = make(dice);
      const plain = readPlain(bytes);
      if (plain === undefined) continue;
      taken += 1;
      // With the bytes, so that a failure shows them.
      expect({ bytes: bytes.toString('latin1'), read: await readByNode(bytes) }).toEqual({
        bytes: bytes.toString('latin1'),
        read: [plain],
      });
    }
    // Otherwise nothing was compared.
    expect(taken).toBeGreaterThan(count / 20);
  });
});
