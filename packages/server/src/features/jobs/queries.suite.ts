import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import {
  LIMITS,
  T0,
  anyPlan,
  capture,
  captureMany,
  expectCounted,
  everything,
  indexesOf,
  someEndpoint,
  textOf,
} from '../../../test/store-world.ts';

/** Background work: purging, expiry, and the check for writability. */
export function maintenanceSuite(store: AppStore): void {
  async function purgeAll(limit: number): Promise<number> {
    let steps = 0;
    while (await store.purgeSome(limit)) steps += 1;
    return steps;
  }

  describe('purging', () => {
    test('proceeds in steps until nothing is left, and affects nothing else', async () => {
      await purgeAll(1000);
      const [cleared, kept, deleted] = [
        await someEndpoint(store),
        await someEndpoint(store),
        await someEndpoint(store),
      ];
      for (const { id } of [cleared, kept, deleted]) await captureMany(store, id, 30);
      await store.clearRequests(cleared.id);
      await captureMany(store, cleared.id, 2);
      await store.clearRequests(cleared.id);
      await captureMany(store, cleared.id, 3);
      await store.deleteEndpoint(deleted.id);
      // Full steps of ten, and an empty one that finds the end. A skipped row would save the latter.
      expect(await purgeAll(10)).toBe(4 + 1 + 4);
      expect(await store.purgeSome(10)).toBe(false);
      expect(indexesOf(await everything(store, cleared.id))).toEqual([34, 33, 32]);
      expect(await everything(store, kept.id)).toHaveLength(30);
    });

    test('removes large bodies in small steps', async () => {
      await purgeAll(1000);
      const { id, uid } = await someEndpoint(store);
      for (const megabytes of [3, 4, 5, 9, 1, 1])
        await capture(store, [{ to: id, body: 'x'.repeat(megabytes * 1_000_000) }]);
      await store.clearRequests(id);
      // 3 and 4 MB, 5, 9, and the rest.
      expect(await purgeAll(1000)).toBe(4);
      expect(await store.purgeSome(1000)).toBe(false);
      await expectCounted(store, uid);
    });

    test('three in parallel remove everything', async () => {
      await purgeAll(1000);
      const gone = await someEndpoint(store);
      await captureMany(store, gone.id, 60);
      await store.clearRequests(gone.id);
      let more = true;
      while (more)
        more = (await Promise.all([store.purgeSome(7), store.purgeSome(7), store.purgeSome(7)])).includes(true);
      expect(indexesOf(await captureMany(store, gone.id, 2, { ...LIMITS, maxUnsaved: 1 }))).toEqual([60, 61]);
      await expectCounted(store, gone.uid);
    });

    test('of an endpoint that never had a request is one empty step', async () => {
      await purgeAll(1000);
      await store.deleteEndpoint((await someEndpoint(store)).id);
      expect(await purgeAll(10)).toBe(1);
    });
  });

  describe('expired endpoints', () => {
    test('are deleted after the moment, not at it and not before; favorites never', async () => {
      const [early, at, late, favorite] = [
        await someEndpoint(store, { expiresAt: T0 - 1 }),
        await someEndpoint(store, { expiresAt: T0 }),
        await someEndpoint(store, { expiresAt: T0 + 1 }),
        await someEndpoint(store, { expiresAt: T0 - 1000 }),
      ];
      await store.changeEndpoint(favorite.id, { favorite: { on: true, now: 0, plans: anyPlan() } });
      await captureMany(store, early.id, 3);
      expect(await store.deleteExpiredEndpoints(T0, 100)).toEqual([early.id]);
      expect(await store.deleteExpiredEndpoints(T0, 100)).toEqual([]);
      expect(await store.findEndpoint(early.uid)).toBeUndefined();
      for (const { uid } of [at, late, favorite]) expect(await store.findEndpoint(uid)).toBeDefined();
      await store.deleteExpiredEndpoints(T0 + 2, 100);
    });

    test('are deleted a few at a time, the longest expired first', async () => {
      const made = [];
      for (const ago of [3, 1, 2])
        made.push({ ago, endpoint: await someEndpoint(store, { expiresAt: T0 - 1000 * ago }) });
      const rounds = [
        await store.deleteExpiredEndpoints(T0, 2),
        await store.deleteExpiredEndpoints(T0, 2),
        await store.deleteExpiredEndpoints(T0, 2),
      ];
      expect(rounds.map((round) => round.length)).toEqual([2, 1, 0]);
      expect(rounds[1]?.[0]).toBe(made.find(({ ago }) => ago === 1)?.endpoint.id);
    });

    test('are each deleted by one of five workers', async () => {
      const endpoints = await Promise.all(Array.from({ length: 20 }, () => someEndpoint(store, { expiresAt: T0 - 1 })));
      const rounds = await Promise.all(Array.from({ length: 5 }, () => store.deleteExpiredEndpoints(T0, 100)));
      expect(rounds.flat().toSorted((a, b) => a - b)).toEqual(
        endpoints.map((endpoint) => endpoint.id).toSorted((a, b) => a - b),
      );
    });

    test('a parallel renewal wins, or comes too late: never renewed and deleted', async () => {
      for (let round = 0; round < 50; round++) {
        const { id, uid } = await someEndpoint(store, { expiresAt: T0 - 1 });
        const [renewed, deleted] = await Promise.all([
          store.changeEndpoint(id, { favorite: { on: true, now: 0, plans: anyPlan() } }),
          store.deleteExpiredEndpoints(T0, 100),
        ]);
        const isThere = (await store.findEndpoint(uid)) !== undefined;
        expect(renewed !== undefined).toBe(isThere);
        expect(deleted.includes(id)).toBe(!isThere);
      }
    });

    test('a parallel capture is stored and readable, or reported as without an endpoint', async () => {
      const ends: string[] = [];
      for (let round = 0; round < 50; round++) {
        const { id, uid } = await someEndpoint(store, { expiresAt: T0 - 1 });
        const [[stored]] = await Promise.all([
          capture(store, [{ to: id, body: 'late' }]),
          store.deleteExpiredEndpoints(T0, 100),
        ]);
        const isThere = (await store.findEndpoint(uid)) !== undefined;
        const text = textOf((await everything(store, id))[0]);
        ends.push(`${stored?.index === 0 ? 'kept' : 'told'}, ${isThere ? 'there' : 'gone'}, ${text ?? 'nothing'}`);
      }
      // Acknowledged first and then deleted with its endpoint: deleted completely.
      const right = ['kept, there, late', 'kept, gone, nothing', 'told, gone, nothing'];
      expect(ends.filter((end) => !right.includes(end))).toEqual([]);
    });
  });

  test('a writable database says so, repeatedly', async () => {
    await store.checkWritable();
    await expect(Promise.all([store.checkWritable(), store.checkWritable()])).resolves.toEqual([undefined, undefined]);
  });
}
