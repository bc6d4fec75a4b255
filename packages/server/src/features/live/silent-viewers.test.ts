import { liveMessageSchema } from '@creel/contract';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { listenLocally } from '../../../../../fixtures/listen-locally.ts';
import { upgradeRaw } from '../../../test/raw-upgrade.ts';
import type { RawUpgrade } from '../../../test/raw-upgrade.ts';
import { OPCODE, wsFrame } from '../../../test/ws-frames.ts';
import type { UserRecord } from '../../database/records.ts';
import { newLiveMemory } from './live-connection.ts';
import { localBus } from '../../bus/bus.ts';
import { Live } from './service.ts';
import { createHandshakes } from './upgrade.ts';
import { refuseUpgrade } from '../../http/raw-response.ts';
import { largeRecord, record } from '../../../test/fake-viewer.ts';
import { endpointRecord } from '../../../test/endpoint-record.ts';

/** Viewers that read little or nothing have bounded costs, and are dropped (docs/api.md, "Live"). */
const MIB = 1024 * 1024;
const LARGE = Array.from({ length: 100 }, (_, at) => largeRecord(99 - at));
const INDEXES = LARGE.map(({ index }) => index);
const SMALL = [record(1), record(0)];

/**
 * Real live connections over a store with constant contents. The first segment of the path is the user, the second the
 * endpoint.
 */
async function startLive(pingMs?: number) {
  const memory = newLiveMemory();
  const failures: unknown[] = [];
  /** The sessions of each check. */
  const checked: (readonly string[])[] = [];
  const live = new Live({
    store: {
      listRequests: ({ endpointId }) => Promise.resolve(endpointId === 1 ? LARGE : SMALL),
      findSome: () => Promise.resolve([]),
      readWatched: (openSessions, endpointIds) => {
        checked.push(openSessions);
        return Promise.resolve({
          openSessions,
          endpoints: endpointIds.map((id) => endpointRecord({ id, uid: `endpoint-${id}` })),
        });
      },
    },
    findDeliveries: () => Promise.resolve([]),
    bus: localBus,
    now: Date.now,
    describeEndpoint: () => Promise.resolve(undefined),
    onFailure: (error) => failures.push(error),
    pingMs,
    memory,
  });
  const complete = createHandshakes(live, new Map());
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    const [, userId, endpointId] = (request.url ?? '').split('/').map(Number);
    const user = userOf(userId ?? 0);
    const session = {
      id: `of ${user.id}`,
      userId: user.id,
      createdAt: 0,
      lastSeenAt: 0,
      expiresAt: 0,
      userAgent: '',
      ip: '',
    };
    const endpoint = endpointRecord({
      id: endpointId ?? 0,
      uid: `endpoint-${endpointId ?? 0}`,
      userId: user.id,
    });
    try {
      complete(request, socket, head, { loggedIn: { session, user }, endpoint });
    } catch (error) {
      refuseUpgrade(socket, error, new Map());
    }
  });
  const port = await listenLocally(server);
  const opened: (() => void)[] = [];
  return {
    live,
    memory,
    checked,
    checks: () => checked.length,
    port,
    async open(userId: number, endpointId: number): Promise<RawUpgrade> {
      const raw = await upgradeRaw(port, `/${userId}/${endpointId}`);
      opened.push(() => raw.connection.close());
      return raw;
    },
    /** A reading viewer: the indexes of its complete `init`. */
    async readInit(userId: number, endpointId: number): Promise<number[]> {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/${userId}/${endpointId}`);
      opened.push(() => socket.terminate());
      const text = await new Promise<string>((resolve, reject) => {
        socket.on('message', (data) => resolve(String(data)));
        socket.on('error', reject);
      });
      socket.terminate();
      const message = liveMessageSchema.parse(JSON.parse(text));
      return message.type === 'init' ? message.data.map((request) => request.index) : [];
    },
    /** A viewer that reads on command. */
    openByHand(userId: number, endpointId: number): Socket {
      const socket = connect(port, '127.0.0.1');
      opened.push(() => socket.destroy());
      socket.on('error', () => undefined);
      // With a listener for this event, bytes are read by `read` only.
      socket.on('readable', () => undefined);
      socket.write(
        `GET /${userId}/${endpointId} HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      );
      return socket;
    },
    async stop() {
      for (const close of opened) close();
      live.close();
      await new Promise((resolve) => server.close(resolve));
      if (failures.length > 0) throw failures[0];
    },
  };
}

function userOf(id: number): UserRecord {
  return {
    id,
    username: `user ${id}`,
    email: `${id}@example.com`,
    emailVerified: true,
    passwordHash: null,
    displayName: null,
    subscriptionTier: 'FREE',
    subscriptionStatus: 'active',
    subscriptionEndAt: null,
    billingInterval: null,
    stripeCustomerId: null,
    stripeSubscriptionId: null,
    settings: { autoSaveNewEndpoints: false, emailNotifyExpiry: false, emailNotifySubscription: false, email: '' },
    createdAt: 0,
  };
}

let started: Awaited<ReturnType<typeof startLive>>;
afterEach(() => started.stop());

describe('memory', () => {
  beforeEach(async () => {
    started = await startLive();
  });

  test('thirty silent viewers of a user, 30 MB each if all were serialized: 24 MiB, and the next user is served', async () => {
    const { memory, live, open } = started;
    const silent = await Promise.all(Array.from({ length: 30 }, () => open(1, 1)));
    for (const { connection } of silent) connection.pause();
    let most = 0;
    for (let look = 0; look < 100; look += 1) {
      most = Math.max(most, memory.budget.used);
      await sleep(10);
    }
    expect(live.viewerCount).toBe(30);
    expect(most).toBeGreaterThan(4 * MIB);
    expect(most).toBeLessThanOrEqual(24 * MIB);

    expect(await started.readInit(2, 1)).toEqual(INDEXES);
    for (const { connection } of silent) connection.close();
    await expect.poll(() => memory.budget.used).toBe(0);
  });

  test('a viewer that waited for memory gets its init after the others have left', async () => {
    const { memory, open, live } = started;
    const silent = await Promise.all(Array.from({ length: 10 }, () => open(1, 1)));
    for (const { connection } of silent) connection.pause();
    await expect.poll(() => memory.budget.used).toBeGreaterThan(12 * MIB);
    const waiting = started.readInit(1, 1);
    await expect.poll(() => live.viewerCount).toBe(11);
    for (const { connection } of silent) connection.close();
    expect(await waiting).toEqual(INDEXES);
  });
});

describe('progress', () => {
  beforeEach(async () => {
    started = await startLive(1000);
  });

  test('a viewer that reads nothing is dropped although it sends pongs', async () => {
    const { live, memory, open } = started;
    const { connection } = await open(1, 1);
    connection.pause();
    await expect.poll(() => memory.budget.used).toBeGreaterThan(0);
    for (let pongs = 0; pongs < 500 && live.viewerCount > 0; pongs += 1) {
      await connection.send(wsFrame({ opcode: OPCODE.pong })).catch(() => undefined);
      await sleep(20);
    }
    expect(live.viewerCount).toBe(0);
    await expect.poll(() => memory.budget.used).toBe(0);
  });

  test('a viewer that reads slowly is kept although it does not reach the pings', async () => {
    const { live, memory, checks } = started;
    const slow = started.openByHand(1, 1);
    await expect.poll(() => memory.budget.used).toBeGreaterThan(0);
    for (let check = checks(); check < 5 && live.viewerCount > 0; check = checks()) {
      // It reads no more than the server notices, so that bytes still wait at the next ping, however fast it comes.
      const { used } = memory.budget;
      while (memory.budget.used === used && live.viewerCount > 0) {
        slow.read();
        await sleep(1);
      }
      await expect.poll(() => checks()).toBeGreaterThan(check);
    }
    expect(live.viewerCount).toBe(1);
  });

  test('viewers are pinged and checked in turns', async () => {
    const { checked, open } = started;
    const viewers = [await open(1, 2), await open(2, 2), await open(3, 2)];
    const opened = checked.length;
    while (checked.length < opened + 6) {
      for (const { connection } of viewers) await connection.send(wsFrame({ opcode: OPCODE.pong }));
      await sleep(50);
    }
    const round = checked.slice(opened, opened + 3);
    expect(round.map(String).toSorted()).toEqual(['of 1', 'of 2', 'of 3']);
    expect(checked.slice(opened + 3, opened + 6)).toEqual(round);
  });

  test('a viewer that answers pings and has nothing to read is kept', async () => {
    const { live, checks, open } = started;
    const { connection } = await open(1, 2);
    while (checks() < 4 && live.viewerCount > 0) {
      await connection.send(wsFrame({ opcode: OPCODE.pong }));
      await sleep(50);
    }
    expect(live.viewerCount).toBe(1);
  });
});

test('a user has at most a hundred live connections: the next gets 429 until one closes; other users are unaffected', async () => {
  started = await startLive();
  const { live, open } = started;
  const all = await Promise.all(Array.from({ length: 100 }, () => open(1, 2)));
  expect(new Set(all.map(({ answer }) => answer.status))).toEqual(new Set([101]));
  const { answer } = await open(1, 3);
  expect([answer.status, answer.header('retry-after'), JSON.parse(answer.body.toString('utf8'))]).toEqual([
    429,
    '5',
    expect.objectContaining({ code: 'RATE_LIMITED' }),
  ]);
  expect((await open(2, 2)).answer.status).toBe(101);
  all[0]?.connection.close();
  await expect.poll(() => live.viewerCount).toBe(100);
  expect((await open(1, 2)).answer.status).toBe(101);
});
