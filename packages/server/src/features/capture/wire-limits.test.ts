import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chunked, exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { RawAnswer } from '../../../../../fixtures/raw-http.ts';
import { expectCaptured, expectKept, expectUnharmed, indexOf, startWireApp } from '../../../test/wire-app.ts';

/** The limits of bodies and rates, and trusted proxies (docs/api.md, "Capture"). */
const LIMIT = 100_000;
const app = await startWireApp({ MAX_BODY_BYTES: String(LIMIT), TRUST_PROXY: '127.0.0.1' });
afterAll(() => app.server.stop());

const head = (...lines: string[]): Buffer => rawRequest([`POST ${app.base}/size HTTP/1.1`, 'Host: h', ...lines]);
const body = (length: number): Buffer => Buffer.alloc(length, 'abcdefghij');

function expectTooLarge(answer: RawAnswer): void {
  expect(answer.status).toBe(413);
  expect(answer.header('connection')).toBe('close');
  expect(answer.header('access-control-allow-origin')).toBe('*');
  expect(answer.header('content-security-policy')).toBe("sandbox; default-src 'none'");
  expect(JSON.parse(answer.body.toString('utf8'))).toMatchObject({ code: 'BODY_TOO_LARGE' });
}

describe('a body at the limit', () => {
  test.each([LIMIT - 1, LIMIT])('%d bytes, declared, is captured', async (length) => {
    await expectCaptured(app, { body: body(length) });
  });

  test.each([
    [LIMIT - 1, 4096],
    [LIMIT, 4096],
    [LIMIT, LIMIT],
  ])('%d bytes in chunks of %d is captured', async (length, size) => {
    const index = indexOf(
      await exchange(
        { port: app.server.port },
        Buffer.concat([head('Transfer-Encoding: chunked'), chunked(body(length), size)]),
      ),
    );
    await expectKept(app, index, {
      method: 'POST',
      path: '/size',
      rawHeaders: [
        ['Host', 'h'],
        ['Transfer-Encoding', 'chunked'],
      ],
      body: body(length),
    });
  });
});

describe('a body over the limit', () => {
  let before = 0;
  beforeAll(async () => {
    before = await app.owner.stored(app.endpoint.uid);
  });

  test('declared: rejected before its first byte is read', async () => {
    using connection = await openRaw({ port: app.server.port });
    await connection.send(head(`Content-Length: ${LIMIT + 1}`));
    expectTooLarge(await connection.next());
  });

  test('declared, with Expect: 100-continue: 413 and no 100', async () => {
    using connection = await openRaw({ port: app.server.port });
    await connection.send(head('Expect: 100-continue', `Content-Length: ${LIMIT + 1}`));
    expectTooLarge(await connection.next());
  });

  test.each([LIMIT + 1, 8_000_000])(
    'declared and sent all the same (%d bytes): the answer arrives, and the connection ends',
    async (length) => {
      using connection = await openRaw({ port: app.server.port });
      connection.send(Buffer.concat([head(`Content-Length: ${length}`), body(length)])).catch(() => {});
      expectTooLarge(await connection.final());
      expect((await connection.closed()).length).toBe(0);
    },
  );

  test.each([
    [LIMIT + 1, 4096],
    [LIMIT + 1, LIMIT + 1],
    [8_000_000, 65_536],
  ])('%d bytes in chunks of %d: the answer arrives, and the connection ends', async (length, size) => {
    using connection = await openRaw({ port: app.server.port });
    connection.send(Buffer.concat([head('Transfer-Encoding: chunked'), chunked(body(length), size)])).catch(() => {});
    expectTooLarge(await connection.final());
    expect((await connection.closed()).length).toBe(0);
  });

  test('endless chunks are cut off at the limit', async () => {
    using connection = await openRaw({ port: app.server.port });
    await connection.send(head('Transfer-Encoding: chunked'));
    const piece = Buffer.concat([Buffer.from('ffff\r\n'), body(0xffff), Buffer.from('\r\n')]);
    const pump = async (): Promise<void> => {
      for (let sent = 0; sent < 100_000_000; sent += piece.length) await connection.send(piece);
      throw new Error('100 MB were taken');
    };
    const pumped = pump().catch((error: unknown) => String(error));
    expectTooLarge(await connection.final());
    expect(await pumped).not.toContain('100 MB were taken');
  });

  test('a request inside it is not read', async () => {
    const connection = await openRaw({ port: app.server.port });
    const second = rawRequest([`POST ${app.base}/behind HTTP/1.1`, 'Host: h', 'Content-Length: 0']);
    connection.send(Buffer.concat([head(`Content-Length: ${LIMIT + 1}`), body(LIMIT + 1), second])).catch(() => {});
    expectTooLarge(await connection.final());
    expect((await connection.closed()).length).toBe(0);
  });

  test('20 at once use little memory', async () => {
    const resting = await app.server.residentBytes();
    const one = () =>
      exchange(
        { port: app.server.port },
        Buffer.concat([head('Transfer-Encoding: chunked'), chunked(body(4_000_000), 65_536)]),
      );
    for (const answer of await Promise.all(Array.from({ length: 20 }, one))) expectTooLarge(answer);
    expect((await app.server.residentBytes()) - resting).toBeLessThan(64 * 1024 * 1024);
  });

  test('none of these was stored, and the server continues', async () => {
    expect(await app.owner.stored(app.endpoint.uid)).toBe(before);
    await expectUnharmed(app);
  });
});

describe('the source address', () => {
  const sourceIp = async (forwarded: string): Promise<string> => {
    const index = await expectCaptured(app, { headers: [['X-Forwarded-For', forwarded]] });
    return (await app.owner.captured(app.endpoint.uid, index)).sourceIp;
  };

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9, 127.0.0.1', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
  ])('behind a trusted proxy, %s came from %s: the last one that is not a trusted proxy', async (forwarded, source) => {
    expect(await sourceIp(forwarded)).toBe(source);
  });

  test.each(['not an address', '', 'unknown', '203.0.113.9; drop'])(
    'rubbish in it (%s) is not believed',
    async (forwarded) => {
      expect(await sourceIp(forwarded)).toBe('127.0.0.1');
    },
  );
});

describe('CAPTURE_RATE_LIMIT', () => {
  test('over it: 429 with Retry-After, not stored; other endpoints are unaffected', async () => {
    const limited = await startWireApp({ CAPTURE_RATE_LIMIT: '1' });
    onTestFinished(() => limited.server.stop());
    const other = await limited.owner.createEndpoint();
    const hit = (uid: string) =>
      exchange({ port: limited.server.port }, rawRequest([`POST /h/${uid} HTTP/1.1`, 'Host: h', 'Content-Length: 0']));
    const answers: RawAnswer[] = [];
    for (let at = 0; at < 30; at += 1) answers.push(await hit(limited.endpoint.uid));
    const over = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(10);
    expect(over.length).toBeGreaterThan(0);
    for (const answer of over) {
      expect(Number(answer.header('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(answer.header('access-control-allow-origin')).toBe('*');
      expect(JSON.parse(answer.body.toString('utf8'))).toMatchObject({ code: 'RATE_LIMITED' });
    }
    expect(await limited.owner.stored(limited.endpoint.uid)).toBe(30 - over.length);
    expect((await hit(other.uid)).status).toBe(200);
  });
});
