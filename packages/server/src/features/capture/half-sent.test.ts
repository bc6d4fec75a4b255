import { readdir } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { chunked, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { makeDice } from '../../../../../fixtures/dice.ts';
import { expectUnharmed, startWireApp } from '../../../test/wire-app.ts';

/** A request that ends before its body does is not stored (docs/api.md, "Capture"). */
const app = await startWireApp();
afterAll(() => app.server.stop());

const payload = Buffer.from('{"half":true,"text":"0123456789"}'.repeat(20));
const whole = (kind: 'plain' | 'chunked'): Buffer => {
  const framing = kind === 'plain' ? `Content-Length: ${payload.length}` : 'Transfer-Encoding: chunked';
  return rawRequest(
    [`POST ${app.base}/half HTTP/1.1`, 'Host: h', 'X-Filler: something', framing],
    kind === 'plain' ? payload : chunked(payload, 50),
  );
};

/** Sends the first bytes, in one or two writes, and hangs up in one of three ways. */
async function cut(bytes: Buffer, at: number, way: 'reset' | 'end' | 'close'): Promise<void> {
  const connection = await openRaw({ port: app.server.port });
  const middle = Math.floor(at / 2);
  await connection.send(bytes.subarray(0, middle));
  await connection.send(bytes.subarray(middle, at));
  if (way === 'reset') connection.reset();
  else if (way === 'close') connection.close();
  else {
    connection.halfClose();
    await connection.closed();
    connection.close();
  }
}

test('200 requests cut at any byte: none is stored, and the server still works', async () => {
  const dice = makeDice(20_261_121);
  const filesOf = async (): Promise<string[]> => (await readdir(app.server.dataDir)).toSorted();
  // The last file that a server makes for itself, a second after its start.
  await expect.poll(filesOf).toContain('creel.reserve');
  const files = await filesOf();
  for (let round = 0; round < 200; round += 20) {
    const cuts = Array.from({ length: 20 }, () => {
      const bytes = whole(dice.pick(['plain', 'chunked'] as const));
      const way = dice.pick(['reset', 'end', 'close'] as const);
      return cut(bytes, 1 + dice.below(bytes.length - 1), way);
    });
    await Promise.all(cuts);
  }
  await expectUnharmed(app);
  expect(await app.owner.stored(app.endpoint.uid)).toBe(1); // the canary
  expect(await filesOf()).toEqual(files);
});

test.each(['plain', 'chunked'] as const)('the last byte missing (%s) is not whole, with it is', async (kind) => {
  const before = await app.owner.stored(app.endpoint.uid);
  await cut(whole(kind), whole(kind).length - 1, 'end');
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before);
  using connection = await openRaw({ port: app.server.port });
  await connection.send(whole(kind));
  connection.halfClose();
  expect((await connection.final()).status).toBe(200);
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before + 1);
});

test('half a body after a declined upgrade is cut off without a wait', async () => {
  const before = await app.owner.stored(app.endpoint.uid);
  const upgrade = ['Connection: Upgrade', 'Upgrade: h2c'];
  for (const framing of ['Content-Length: 5', 'Transfer-Encoding: chunked']) {
    const connection = await openRaw({ port: app.server.port });
    await connection.send(rawRequest([`POST ${app.base} HTTP/1.1`, 'Host: h', ...upgrade, framing], '3\r\n'));
    connection.halfClose();
    await connection.closed();
  }
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before);
});

test('a whole request whose sender hangs up without waiting is stored once or not at all', async () => {
  const before = await app.owner.stored(app.endpoint.uid);
  for (let round = 0; round < 20; round += 1) await cut(whole('plain'), whole('plain').length, 'close');
  await expectUnharmed(app);
  expect((await app.owner.stored(app.endpoint.uid)) - before - 1).toBeLessThanOrEqual(20);
});

test('of a whole request and a half one on the same connection, only the whole one is stored', async () => {
  const before = await app.owner.stored(app.endpoint.uid);
  const connection = await openRaw({ port: app.server.port });
  await connection.send(Buffer.concat([whole('chunked'), whole('plain').subarray(0, -5)]));
  expect((await connection.final()).status).toBe(200);
  connection.reset();
  await expectUnharmed(app);
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before + 2);
});

/** A 200, then an error for the next request, then the end of the connection. */
async function expectAnswers(parts: readonly (string | Buffer)[], second: number, halfClose = false): Promise<void> {
  const before = await app.owner.stored(app.endpoint.uid);
  const connection = await openRaw({ port: app.server.port });
  await connection.send(Buffer.concat(parts.map((part) => Buffer.from(part))));
  if (halfClose) connection.halfClose();
  expect([(await connection.final()).status, (await connection.final()).status]).toEqual([200, second]);
  await connection.closed();
  await expectUnharmed(app);
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before + 2);
}

describe('a complete request is answered before', () => {
  const head = (framing: string): string => `POST ${app.base}/b HTTP/1.1\r\nHost: h\r\n${framing}\r\n\r\n`;

  test('a body of bad chunks', () =>
    expectAnswers([whole('plain'), head('Transfer-Encoding: chunked'), 'ZZ\r\nhello\r\n0\r\n\r\n'], 400));
  test('half a body', () => expectAnswers([whole('plain'), head('Content-Length: 10'), 'abc'], 400, true));
  test('a bad body after two unread ones', async () => {
    const { uid } = await app.owner.createEndpoint();
    const connection = await openRaw({ port: app.server.port });
    const fresh = (rest: string): string => `${rest.replace(app.base, `/h/${uid}`)}`;
    const bare = `GET ${app.base}/a HTTP/1.1\r\nHost: h\r\n\r\n`;
    await connection.send(fresh(bare) + fresh(bare) + fresh(head('Transfer-Encoding: chunked')) + 'ZZ\r\n');
    const statuses = [await connection.final(), await connection.final(), await connection.final()];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 400]);
    await connection.closed();
    expect(await app.owner.stored(uid)).toBe(2);
  });
  test('a request without a Host, and garbage after it', () =>
    expectAnswers([`GET ${app.base}/a HTTP/1.1\r\nHost: h\r\n\r\nGET ${app.base}/b HTTP/1.1\r\n\r\n`, '\0\0\0'], 400));
  test('CONNECT', () => expectAnswers([whole('plain'), 'CONNECT a:80 HTTP/1.1\r\nHost: h\r\n\r\n'], 405));
  test('a rejected live connection', () => {
    const asked = ['GET /ws?endpoint=x HTTP/1.1', 'Host: h', 'Connection: Upgrade', 'Upgrade: websocket'];
    return expectAnswers([whole('plain'), `${asked.join('\r\n')}\r\n\r\n`], 401);
  });
});

test('a sender that closes after its second request, while the first waits for the disk, gets both responses', async () => {
  const before = await app.owner.stored(app.endpoint.uid);
  for (let round = 0; round < 40; round += 1) {
    using connection = await openRaw({ port: app.server.port });
    await connection.send(whole('plain'));
    await new Promise((next) => setImmediate(next));
    await connection.send(whole('plain'));
    connection.halfClose();
    expect([(await connection.final()).status, (await connection.final()).status]).toEqual([200, 200]);
  }
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before + 80);
});
