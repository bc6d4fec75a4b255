import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  LIMITS,
  T0,
  capture,
  expectCounted,
  everything,
  indexesOf,
  someEndpoint,
  someUser,
  textOf,
} from '../../../test/store-world.ts';
import { openLink } from '../../../test/postgres-link.ts';
import { startOwnServer } from '../../../test/own-postgres.ts';
import { openPostgresStore } from './postgres-store.ts';
import { QUERIES } from '../../queries.ts';
import { SESSIONS } from './session.ts';

const server = await startOwnServer();
const store = await openPostgresStore(server.url, QUERIES);

afterAll(async () => {
  await store.close();
  await server.stop();
});

/** Before recovery PostgreSQL syncs all of its files, which takes time on a slow disk. */
const RECOVERY_MS = 180_000;

/** Repeats a call until it succeeds. The store must recover by itself. */
async function untilItWorks<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch {
      await sleep(20);
    }
  }
}

/** Writes batches until stopped, and records the acknowledged captures. */
function writeOn(endpointId: number): {
  acknowledged: [index: number, body: string][];
  stop: () => Promise<void>;
} {
  // A list, so that an index that is assigned again after a loss stays visible.
  const acknowledged: [number, string][] = [];
  const end = new AbortController();
  const written = (async () => {
    for (let round = 0; !end.signal.aborted; round++) {
      const bodies = Array.from({ length: 10 }, (_, nth) => `round ${round}, ${nth}`);
      try {
        const stored = await capture(
          store,
          bodies.map((body) => ({ to: endpointId, body, at: T0 + round })),
          LIMITS,
        );
        stored.forEach(({ index }, nth) => acknowledged.push([index, bodies[nth] ?? '']));
      } catch {
        await sleep(5);
      }
    }
  })();
  return {
    acknowledged,
    stop: async () => {
      end.abort();
      await written;
    },
  };
}

async function untilMore(acknowledged: readonly unknown[], more: number): Promise<void> {
  const wanted = acknowledged.length + more;
  while (acknowledged.length < wanted) await sleep(5);
}

describe('while captures are being written', () => {
  const terminateAll = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'creel %'`;

  test.each<[string, () => Promise<unknown>]>([
    ['all connections are ended', () => server.run(terminateAll)],
    ['the server crashes and recovers', () => server.crash()],
  ])(
    '%s, again and again: nothing acknowledged is lost, and all goes on by itself',
    async (_, disturb) => {
      const { id, uid } = await untilItWorks(() => someEndpoint(store));
      const writing = writeOn(id);
      for (let blow = 0; blow < 2; blow++) {
        await untilMore(writing.acknowledged, 50);
        await untilItWorks(disturb);
        await untilMore(writing.acknowledged, 50);
      }
      await writing.stop();
      const stored = await untilItWorks(() => everything(store, id));
      const rows = new Map(stored.map((row) => [row.index, textOf(row)]));
      const oldest = Math.min(...rows.keys());
      const kept = writing.acknowledged.filter(([index]) => index >= oldest);
      expect(kept.length).toBeGreaterThanOrEqual(200);
      expect(kept.filter(([index, body]) => rows.get(index) !== body)).toEqual([]);
      expect(await expectCounted(store, uid)).toMatchObject({ unsaved: rows.size, saved: 0 });
    },
    RECOVERY_MS,
  );

  test('closed idle connections have no effect', async () => {
    const user = await untilItWorks(() => someUser(store));
    await Promise.all(Array.from({ length: 20 }, () => store.findUser(user.id)));
    await server.run(terminateAll);
    const found = await Promise.all(Array.from({ length: 20 }, () => store.findUser(user.id)));
    expect(found.every((one) => one?.id === user.id)).toBe(true);
  });
});

describe('a setting that loses acknowledged data', () => {
  afterEach(async () => {
    await server.run('alter system reset all');
    await server.run('select pg_reload_conf()');
  });

  // The tests' server has fsync set on its command line; see durability.test.ts.
  test('is rejected at the start, and detected at runtime', async () => {
    await untilItWorks(() => store.checkWritable());
    await server.run('alter system set full_page_writes = off');
    await server.run('select pg_reload_conf()');
    while ((await server.run('show full_page_writes'))[0]?.full_page_writes !== 'off') await sleep(10);
    const sentence =
      'PostgreSQL runs with full_page_writes=off: a power cut could lose requests that were acknowledged.';
    await expect(openPostgresStore(server.url, QUERIES)).rejects.toThrow(sentence);
    await expect(store.checkWritable()).rejects.toThrow(sentence);
  });
});

test('a cut link fails running calls; after it is restored calls work, and no dead connection stays in a pool', async () => {
  const link = await openLink(server.url);
  const short = { statementMs: 1500, lockMs: 1000, connectMs: 2000, lateMs: 500 };
  const kinds = {
    ...SESSIONS,
    capture: { ...SESSIONS.capture, ...short },
    read: { ...SESSIONS.read, ...short },
    write: { ...SESSIONS.write, ...short },
  };
  const far = await openPostgresStore(link.url, QUERIES, kinds);
  const { id, uid } = await untilItWorks(() => someEndpoint(far));
  await untilItWorks(() => capture(far, [{ to: id, body: 'before' }]));
  const readAtOnce = (): Promise<unknown[]> => Promise.all(Array.from({ length: 6 }, () => far.findEndpoint(uid)));
  await untilItWorks(readAtOnce);
  link.cut();
  const during = await Promise.allSettled([
    capture(far, [{ to: id, body: 'lost' }]),
    ...Array.from({ length: 6 }, () => far.findEndpoint(uid)),
    someUser(far),
  ]);
  expect(during.map((one) => one.status)).toEqual(during.map(() => 'rejected'));
  // Callers get 503, not an error about the call.
  const reasons = during.slice(1).map((one) => (one.status === 'rejected' ? String(one.reason) : ''));
  expect(reasons).toEqual(reasons.map(() => expect.stringMatching(/^StorageUnavailable: /)));
  await expect(capture(far, [{ to: id, body: 'lost too' }])).rejects.toBeInstanceOf(Error);
  link.mend();
  const [stored] = await untilItWorks(() => capture(far, [{ to: id, body: 'after' }]));
  expect(await untilItWorks(readAtOnce)).toHaveLength(6);
  expect(indexesOf(await untilItWorks(() => everything(far, id)))).toContain(stored?.index);
  await far.close();
  await link.close();
});
