import { afterAll, describe, expect, test } from 'vitest';
import { exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { HeaderPair } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { expectCaptured, expectKept, expectUnharmed, indexOf, startWireApp } from '../../../test/wire-app.ts';

/** Header lines on raw sockets, read back equal (docs/api.md, "Captured requests"). */
const app = await startWireApp();
afterAll(() => app.server.stop());

const many = (count: number, name: (at: number) => string): HeaderPair[] =>
  Array.from({ length: count }, (_, at) => [name(at), String(at)]);
const headersOf = async (index: number): Promise<Record<string, string>> =>
  (await app.owner.captured(app.endpoint.uid, index)).headers;
const exact = (...lines: string[]) =>
  exchange({ port: app.server.port }, rawRequest([`POST ${app.base} HTTP/1.1`, ...lines]));

describe('stored with case, order and repeats', () => {
  const cases: [string, HeaderPair[]][] = [
    [
      'odd case',
      [
        ['x-lower', '1'],
        ['X-UPPER', '2'],
        ['x-MiXeD', '3'],
        ['X-Lower', '4'],
      ],
    ],
    [
      'repeats',
      [
        ['X-A', '1'],
        ['X-B', '2'],
        ['X-A', '3'],
        ['x-a', '1'],
      ],
    ],
    [
      'Content-Type twice',
      [
        ['Content-Type', 'text/plain'],
        ['Content-Type', 'application/json'],
      ],
    ],
    [
      'Cookie twice',
      [
        ['Cookie', 'a=1'],
        ['Cookie', 'b=2'],
      ],
    ],
    [
      'Set-Cookie in a request',
      [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ],
    ],
    [
      'names of the prototype',
      [
        ['__proto__', 'x'],
        ['constructor', 'y'],
        ['toString', 'z'],
        ['hasOwnProperty', 'w'],
        ['__proto__', 'v'],
      ],
    ],
    ['latin1', [['X-Latin', 'caf\xe9 \xff\x80']]],
    ['UTF-8 bytes', [['X-Utf8', Buffer.from('Ω🌊').toString('latin1')]]],
    ['tabs and spaces inside', [['X-Tab', 'a\tb  c']]],
    ['an empty value', [['X-Empty', '']]],
    ['every token character', [["!#$%&'*+-.^_`|~09azAZ", 'ok']]],
    ['15 KiB', [['X-Long', 'v'.repeat(15 * 1024)]]],
    ['17 KB', [['X-Long', 'v'.repeat(17_000)]]],
    ['60 KiB', [['X-Long', 'v'.repeat(60 * 1024)]]],
    [
      'hop-by-hop',
      [
        ['Connection', 'close, X-Gone'],
        ['X-Gone', '1'],
        ['TE', 'trailers'],
        ['Keep-Alive', 'timeout=5'],
        ['Proxy-Authorization', 'Basic eDp5'],
      ],
    ],
    [
      'ours',
      [
        ['X-Creel-Request', '99'],
        ['Origin', 'https://evil.example'],
        ['Sec-Fetch-Site', 'cross-site'],
        ['Authorization', 'Bearer secret'],
      ],
    ],
    ['the same name 500 times', many(500, () => 'X-Same')],
    ['1', many(1, (at) => `X-${at}`)],
    ['100', many(100, (at) => `X-${at}`)],
    ['997, 999 with the other two', many(997, (at) => `X-${at}`)],
    ['998, 1,000 with the other two', many(998, (at) => `X-${at}`)],
    ['999, 1,001 with the other two', many(999, (at) => `X-${at}`)],
    ['1,100', many(1100, (at) => `X-${at}`)],
    ['3,900', many(3900, (at) => `h${at}`)],
  ];
  test.each(cases)('%s', async (_, headers) => {
    await expectCaptured(app, { headers, body: Buffer.from('x') });
  });

  test('white space around a value is not part of it (RFC 9110 5.5)', async () => {
    const answer = await exact(`Host: h`, 'X-A:1', 'X-B: \t 2 \t', 'Content-Length: 0');
    const rawHeaders: HeaderPair[] = [
      ['Host', 'h'],
      ['X-A', '1'],
      ['X-B', '2'],
      ['Content-Length', '0'],
    ];
    await expectKept(app, indexOf(answer), { method: 'POST', path: '/', rawHeaders, body: Buffer.alloc(0) });
  });

  test('a sender without length and body', async () => {
    const rawHeaders: HeaderPair[] = [['hOsT', 'h']];
    await expectKept(app, indexOf(await exact('hOsT: h')), {
      method: 'POST',
      path: '/',
      rawHeaders,
      body: Buffer.alloc(0),
    });
  });

  test('HTTP/1.0 without Host', async () => {
    const answer = await exchange(
      { port: app.server.port },
      rawRequest([`POST ${app.base}/old HTTP/1.0`, 'Content-Length: 3'], 'old'),
    );
    await expectKept(app, indexOf(answer), {
      method: 'POST',
      path: '/old',
      rawHeaders: [['Content-Length', '3']],
      body: Buffer.from('old'),
    });
  });
});

describe('the map of headers', () => {
  test('has lower-case names; repeats are joined in order, cookies with a semicolon', async () => {
    const index = await expectCaptured(app, {
      headers: [
        ['X-A', '1'],
        ['x-a', '2'],
        ['Cookie', 'a=1'],
        ['COOKIE', 'b=2'],
        ['Content-Type', 'text/a'],
        ['content-type', 'text/b'],
        ['Set-Cookie', 'c=1'],
        ['Set-Cookie', 'd=2'],
      ],
    });
    expect(await headersOf(index)).toMatchObject({
      'x-a': '1, 2',
      cookie: 'a=1; b=2',
      'content-type': 'text/a, text/b',
      'set-cookie': 'c=1, d=2',
    });
  });

  test('holds the names of the prototype as plain names', async () => {
    const index = await expectCaptured(app, {
      headers: [
        ['__proto__', 'x'],
        ['constructor', 'y'],
        ['__proto__', 'z'],
      ],
    });
    const answer = await app.owner.send(`/api/endpoints/${app.endpoint.uid}/requests/${-1_000_000 - index}`);
    expect(await answer.text()).toContain('"__proto__":"x, z"');
    expect((await headersOf(index)).constructor).toBe('y');
  });
});

describe('over 64 KiB of header bytes', () => {
  test.each([
    ['one value', [`X-Long: ${'v'.repeat(66_000)}`]],
    ['7,000 lines', many(7000, (at) => `header-${at}`).map(([name, value]) => `${name}: ${value}`)],
    ['one name', [`${'n'.repeat(66_000)}: 1`]],
    ['13,200 lines of 5 bytes', Array.from({ length: 13_200 }, () => 'a:b')],
  ])('%s: 431, nothing is dropped and nothing stored', async (_, lines) => {
    const before = await app.owner.stored(app.endpoint.uid);
    const answer = await exact('Host: h', ...lines, 'Content-Length: 0');
    expect(answer.status).toBe(431);
    expect(answer.header('connection')).toBe('close');
    expect(JSON.parse(answer.body.toString('utf8'))).toMatchObject({ code: 'HEADERS_TOO_LARGE' });
    expect(await app.owner.stored(app.endpoint.uid)).toBe(before);
  });

  test('64 KiB exactly are accepted, one byte more is not', async () => {
    const others = ['Host: h', 'Content-Length: 0', 'X-Long: '].join('\r\n').length + '\r\n'.length;
    const fill = 64 * 1024 - others;
    const send = (length: number) => exact('Host: h', 'Content-Length: 0', `X-Long: ${'v'.repeat(length)}`);
    expect((await send(fill)).status).toBe(200);
    expect((await send(fill + 1)).status).toBe(431);
  });

  test('a target of 70 KB is accepted beside few headers, one of 90 KB is not', async () => {
    await expectCaptured(app, { path: `/${'p'.repeat(70_000)}` });
    const answer = await exchange(
      { port: app.server.port },
      rawRequest([`POST ${app.base}/${'p'.repeat(90_000)} HTTP/1.1`, 'Host: h']),
    );
    expect(answer.status).toBe(431);
    await expectUnharmed(app);
  });
});

describe('a request that asks for an upgrade is captured like any other', () => {
  const asking: [string, HeaderPair[]][] = [
    [
      'h2c as Java sends it',
      [
        ['Connection', 'Upgrade, HTTP2-Settings'],
        ['Upgrade', 'h2c'],
        ['HTTP2-Settings', 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA'],
      ],
    ],
    [
      'websocket',
      [
        ['Upgrade', 'websocket'],
        ['Connection', 'Upgrade'],
        ['Sec-WebSocket-Version', '13'],
        ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ],
    ],
    [
      'foo',
      [
        ['Connection', 'upgrade'],
        ['Upgrade', 'foo/2.0, bar'],
      ],
    ],
    ['without Connection', [['Upgrade', 'h2c']]],
  ];
  test.each(asking)('%s, without a body', async (_, headers) => {
    await expectCaptured(app, { method: 'GET', headers });
  });

  test.each(asking)('%s, with a body of 100 kB', async (_, headers) => {
    await expectCaptured(app, { headers, body: Buffer.alloc(100_000, 'payload ') });
  });

  test.each(asking)('%s, chunked', async (_, headers) => {
    using connection = await openRaw({ port: app.server.port });
    const lines = [...headers.map(([name, value]) => `${name}: ${value}`), 'Transfer-Encoding: chunked'];
    await connection.send(
      rawRequest([`POST ${app.base}/up HTTP/1.1`, 'Host: h', ...lines], '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
    );
    const index = indexOf(await connection.final());
    const rawHeaders: HeaderPair[] = [['Host', 'h'], ...headers, ['Transfer-Encoding', 'chunked']];
    await expectKept(app, index, { method: 'POST', path: '/up', rawHeaders, body: Buffer.from('abcde') });
  });

  test.each(asking.slice(0, 3))('%s: the bytes after it are neither lost silently nor misread', async (_, headers) => {
    const before = await app.owner.stored(app.endpoint.uid);
    const connection = await openRaw({ port: app.server.port });
    const inBody = `GET ${app.base}/in-body HTTP/1.1\r\nHost: h\r\n\r\n`;
    const lines = [...headers.map(([name, value]) => `${name}: ${value}`), 'Content-Length: 3'];
    await connection.send(
      Buffer.concat([
        rawRequest([`POST ${app.base}/up HTTP/1.1`, 'Host: h', ...lines], 'abc'),
        rawRequest([`POST ${app.base}/second HTTP/1.1`, 'Host: h', `Content-Length: ${inBody.length}`]),
      ]),
    );
    await connection.send(inBody);
    const answer = await connection.final();
    expect([answer.status, answer.header('connection')]).toEqual([200, 'close']);
    await connection.closed();
    await expectUnharmed(app);
    expect(await app.owner.stored(app.endpoint.uid)).toBe(before + 2);
  });
});

describe('Expect', () => {
  test('100-continue: 100 first, then 200 once the body is there', async () => {
    using connection = await openRaw({ port: app.server.port });
    await connection.send(
      rawRequest([`POST ${app.base} HTTP/1.1`, 'Host: h', 'Expect: 100-continue', 'Content-Length: 4']),
    );
    expect((await connection.next()).status).toBe(100);
    await connection.send('body');
    const rawHeaders: HeaderPair[] = [
      ['Host', 'h'],
      ['Expect', '100-continue'],
      ['Content-Length', '4'],
    ];
    await expectKept(app, indexOf(await connection.next()), {
      method: 'POST',
      path: '/',
      rawHeaders,
      body: Buffer.from('body'),
    });
  });

  test('the body may be sent without waiting', async () => {
    await expectCaptured(app, { headers: [['Expect', '100-Continue']], body: Buffer.from('at once') });
  });

  test('to an unknown endpoint: 404', async () => {
    const answer = await exchange(
      { port: app.server.port },
      rawRequest(['POST /h/nobody-has-this-one-0000 HTTP/1.1', 'Host: h', 'Expect: 100-continue', 'Content-Length: 4']),
    );
    expect(answer.status).toBe(404);
  });

  test('any other is stored like every header', async () => {
    const index = indexOf(await exact('Host: h', 'Expect: 200-ok', 'Content-Length: 0'));
    expect((await app.owner.captured(app.endpoint.uid, index)).rawHeaders).toContainEqual(['Expect', '200-ok']);
    await expectUnharmed(app);
  });
});

describe('several requests on one connection', () => {
  test('pipelined: each answered and stored, in order', async () => {
    using connection = await openRaw({ port: app.server.port });
    const one = (at: number): Buffer =>
      rawRequest(
        [`POST ${app.base}/pipe/${at} HTTP/1.1`, 'Host: h', `Content-Length: ${String(at).length}`],
        String(at),
      );
    await connection.send(Buffer.concat(Array.from({ length: 50 }, (_, at) => one(at))));
    const indices: number[] = [];
    for (let at = 0; at < 50; at += 1) indices.push(indexOf(await connection.final()));
    expect(indices).toEqual(Array.from({ length: 50 }, (_, at) => (indices[0] ?? 0) + at));
    for (const [at, index] of indices.entries()) {
      const kept = await app.owner.captured(app.endpoint.uid, index);
      expect({ path: kept.path, body: kept.body }).toEqual({ path: `/pipe/${at}`, body: String(at) });
    }
  });

  test('chunked and plain in turns, byte by byte', async () => {
    using connection = await openRaw({ port: app.server.port });
    const bytes = Buffer.concat([
      rawRequest([`PUT ${app.base}/1 HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked'], '1\r\na\r\n0\r\n\r\n'),
      rawRequest([`PUT ${app.base}/2 HTTP/1.1`, 'Host: h', 'Content-Length: 1'], 'b'),
    ]);
    for (const byte of bytes) await connection.send(Buffer.of(byte));
    const [first, second] = [indexOf(await connection.final()), indexOf(await connection.final())];
    expect((await app.owner.captured(app.endpoint.uid, first)).body).toBe('a');
    expect((await app.owner.captured(app.endpoint.uid, second)).body).toBe('b');
  });

  test('blank lines before a request are ignored', async () => {
    const answer = await exchange(
      { port: app.server.port },
      Buffer.concat([Buffer.from('\r\n\r\n\r\n'), rawRequest([`GET ${app.base} HTTP/1.1`, 'Host: h'])]),
    );
    await expectKept(app, indexOf(answer), {
      method: 'GET',
      path: '/',
      rawHeaders: [['Host', 'h']],
      body: Buffer.alloc(0),
    });
  });

  test('a valid one before garbage is stored at most once, and always if it was acknowledged', async () => {
    const before = await app.owner.stored(app.endpoint.uid);
    const connection = await openRaw({ port: app.server.port });
    const good = rawRequest([`POST ${app.base}/good HTTP/1.1`, 'Host: h', 'Content-Length: 2'], 'ok');
    await connection.send(Buffer.concat([good, Buffer.from('\0rubbish\r\n\r\n')]));
    const acknowledged = (await connection.closed()).includes('HTTP/1.1 200') ? 1 : 0;
    await expectUnharmed(app);
    const kept = (await app.owner.stored(app.endpoint.uid)) - before - 1; // the canary is one more
    expect(kept).toBeGreaterThanOrEqual(acknowledged);
    expect(kept).toBeLessThanOrEqual(1);
  });
});
