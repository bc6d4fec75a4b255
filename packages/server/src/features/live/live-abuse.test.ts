import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startServerProcess } from '../../../test/server-process.ts';
import { createTestClient } from '../../../test/test-client.ts';
import { upgradeRaw } from '../../../test/raw-upgrade.ts';
import type { RawUpgrade } from '../../../test/raw-upgrade.ts';
import { OPCODE, closeCodeIn, closePayload, readFrames, wsFrame } from '../../../test/ws-frames.ts';

/** A hostile peer of a live connection has bounded effects (RFC 6455 5 and 7). */
let peer: RawUpgrade['connection'];
const server = await startServerProcess();
const client = createTestClient(server.origin);
await client.call('register', {
  body: { username: 'owner', password: 'a good password', email: 'owner@example.com' },
});
const path = `/ws?endpoint=${(await client.call('createEndpoint', { body: {} })).uid}`;
afterAll(() => server.stop());

async function connectPeer(): Promise<RawUpgrade['connection']> {
  const { answer, connection } = await upgradeRaw(server.port, path, { cookie: client.jar.header() });
  expect(answer.status).toBe(101);
  return connection;
}
beforeEach(async () => {
  peer = await connectPeer();
});

const { text, binary, continuation, close, ping, pong } = OPCODE;
const zeros = (length: number): Buffer => Buffer.alloc(length);
const INVALID_UTF8 = Buffer.from([0xce, 0xba, 0xe1, 0xbd, 0xb9, 0xed, 0xa0, 0x80]);

/** Sends the bytes and returns the close code of the server. */
async function answerTo(frames: readonly Buffer[]): Promise<number | undefined> {
  peer.send(Buffer.concat(frames)).catch(() => {});
  return closeCodeIn(await peer.closed());
}

test.each<[string, number, readonly Buffer[]]>([
  ['reserved bit 1', 1002, [wsFrame({ opcode: text, reserved: 4 })]],
  ['reserved bit 2', 1002, [wsFrame({ opcode: text, reserved: 2 })]],
  ['reserved bit 3', 1002, [wsFrame({ opcode: text, reserved: 1 })]],
  ['reserved bits in a ping', 1002, [wsFrame({ opcode: ping, reserved: 7 })]],
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): [string, number, Buffer[]] => [
    `opcode ${opcode}`,
    1002,
    [wsFrame({ opcode })],
  ]),
  ['a frame that is not masked', 1002, [wsFrame({ opcode: text, payload: Buffer.from('hi'), masked: false })]],
  ['a ping of 126 bytes', 1002, [wsFrame({ opcode: ping, payload: zeros(126) })]],
  ['a close of 126 bytes', 1002, [wsFrame({ opcode: close, payload: closePayload(1000, zeros(124)) })]],
  ['a ping in pieces', 1002, [wsFrame({ opcode: ping, fin: false })]],
  ['a continuation of nothing', 1002, [wsFrame({ opcode: continuation })]],
  ['a new message within another', 1002, [wsFrame({ opcode: text, fin: false }), wsFrame({ opcode: text })]],
  ['text that is not UTF-8', 1007, [wsFrame({ opcode: text, payload: INVALID_UTF8 })]],
  [
    'text that is not UTF-8, in pieces',
    1007,
    [
      wsFrame({ opcode: text, payload: INVALID_UTF8.subarray(0, 6), fin: false }),
      wsFrame({ opcode: continuation, payload: INVALID_UTF8.subarray(6) }),
    ],
  ],
  ['a goodbye that is not UTF-8', 1007, [wsFrame({ opcode: close, payload: closePayload(1000, INVALID_UTF8) })]],
  ['a goodbye of one byte', 1002, [wsFrame({ opcode: close, payload: zeros(1) })]],
  ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map((code): [string, number, Buffer[]] => [
    `close code ${code}`,
    1002,
    [wsFrame({ opcode: close, payload: closePayload(code) })],
  ]),
  ['64 KiB and a byte', 1009, [wsFrame({ opcode: binary, payload: zeros(65_537) })]],
  [
    '64 KiB and a byte, in pieces',
    1009,
    [
      wsFrame({ opcode: binary, payload: zeros(65_536), fin: false }),
      wsFrame({ opcode: continuation, payload: zeros(1) }),
    ],
  ],
  ['a length of 2^63 - 1', 1009, [wsFrame({ opcode: binary, claims: 2n ** 63n - 1n })]],
  ['a length with the highest bit set', 1009, [wsFrame({ opcode: binary, claims: 2n ** 64n - 1n })]],
  [
    '131,073 empty pieces',
    1008,
    [
      wsFrame({ opcode: text, fin: false }),
      ...Array.from({ length: 131_072 }, () => wsFrame({ opcode: continuation, fin: false })),
    ],
  ],
  [
    'a message that never ends',
    1009,
    [
      wsFrame({ opcode: text, fin: false }),
      ...Array.from({ length: 1000 }, () => wsFrame({ opcode: continuation, payload: zeros(100), fin: false })),
    ],
  ],
  ['1,001 messages', 1008, Array.from({ length: 1001 }, () => wsFrame({ opcode: text, payload: Buffer.from('hi') }))],
  [
    '17 messages of 64 KiB',
    1008,
    Array.from({ length: 17 }, () => wsFrame({ opcode: binary, payload: zeros(65_536) })),
  ],
  ['1,001 unsolicited pongs', 1008, Array.from({ length: 1001 }, () => wsFrame({ opcode: pong }))],
])('%s: %d', async (_what, code, frames) => {
  expect(await answerTo(frames)).toBe(code);
});

test('pings faster than their pongs can leave end the connection', async () => {
  const pings = Array.from({ length: 2000 }, () => wsFrame({ opcode: ping, payload: zeros(125) }));
  expect([undefined, 1008]).toContain(await answerTo(pings));
});

test('of a flood, the server reads only the beginning', async () => {
  const flood = Buffer.concat(Array.from({ length: 100_000 }, () => wsFrame({ opcode: text, payload: zeros(100) })));
  const read = new Promise<boolean>(
    (resolve) =>
      void peer.send(flood).then(
        () => resolve(true),
        () => resolve(false),
      ),
  );
  await peer.closed();
  expect(await read).toBe(false);
});

describe('valid frames are accepted', () => {
  test.each([1000, 1001, 1003, 1011, 3000, 4999])('a close with %d gets the same code back', async (code) => {
    expect(await answerTo([wsFrame({ opcode: close, payload: closePayload(code, 'so long') })])).toBe(code);
  });

  test('a close without a code, and data after it is ignored', async () => {
    expect(await answerTo([wsFrame({ opcode: close }), wsFrame({ opcode: 15 })])).toBe(1005);
  });

  test('a ping of 125 bytes, split anywhere, between the fragments of a message, gets its pong', async () => {
    const payload = Buffer.alloc(125, 'ping');
    const bytes = Buffer.concat([
      wsFrame({ opcode: text, payload: Buffer.from([0xc3]), fin: false }),
      wsFrame({ opcode: ping, payload }),
      wsFrame({ opcode: continuation, payload: Buffer.from([0xa4]) }),
      wsFrame({ opcode: binary, payload: zeros(65_536), lengthBytes: 8 }),
      wsFrame({ opcode: close, payload: closePayload(1000) }),
    ]);
    for (const byte of bytes.subarray(0, 200)) await peer.send(Buffer.of(byte));
    await peer.send(bytes.subarray(200));
    const frames = readFrames(await peer.closed());
    expect(frames.find((frame) => frame.opcode === pong)?.payload.equals(payload)).toBe(true);
    expect(frames.at(-1)).toEqual({ opcode: close, payload: closePayload(1000) });
  });
});

test('twenty of the worst connections at once use little memory, and the server continues', async () => {
  peer.close();
  const resting = await server.residentBytes();
  const worst = Buffer.concat([
    wsFrame({ opcode: text, fin: false }),
    ...Array.from({ length: 131_072 }, () => wsFrame({ opcode: continuation, fin: false })),
  ]);
  const unread = Buffer.concat(Array.from({ length: 131_072 }, () => wsFrame({ opcode: ping, payload: zeros(125) })));
  const peers = await Promise.all(Array.from({ length: 20 }, connectPeer));
  for (const [at, one] of peers.entries()) {
    if (at % 2 === 0) one.pause();
    one.send(at % 2 === 0 ? unread : worst).catch(() => {});
  }
  await Promise.all(peers.filter((_one, at) => at % 2 === 1).map((one) => one.closed()));
  expect((await server.residentBytes()) - resting).toBeLessThan(64 * 1024 * 1024);
  for (const one of peers) one.close();
  expect((await client.answerTo('/healthz')).status).toBe(200);
  expect(server.output()).not.toMatch(/unhandled|uncaught|"level":(50|60)|TypeError|RangeError/i);
});

test('a user has at most 100 live connections; another user still gets one', async () => {
  const user = createTestClient(server.origin);
  const body = { username: 'watcher', password: 'a good password', email: 'watcher@example.com' };
  await user.call('register', { body });
  const { uid } = await user.call('createEndpoint', { body: {} });
  const open = () => upgradeRaw(server.port, `/ws?endpoint=${uid}`, { cookie: user.jar.header() });
  const opened = await Promise.all(Array.from({ length: 100 }, open));
  expect(new Set(opened.map(({ answer }) => answer.status))).toEqual(new Set([101]));
  expect((await open()).answer.status).toBe(429);
  (await connectPeer()).close();
  opened[0]?.connection.close();
  await expect.poll(async () => (await open()).answer.status).toBe(101);
  for (const { connection } of opened) connection.close();
});
