import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { INSTALLATION, LIMITS, deliveryWorld } from '../../../test/delivery-world.ts';
import {
  T0,
  capture,
  captureMany,
  everything,
  expectCounted,
  indexesOf,
  someEndpoint,
} from '../../../test/store-world.ts';

/** Destinations and the planning of deliveries, on every database. */
export function deliveriesSuite(store: AppStore): void {
  const { add, plan, planStep, due, dueDelivery, attemptOf, record, stored } = deliveryWorld(store);

  describe('deliveries', () => {
    test('are planned once, for captures after the destination that match, in order', async () => {
      const endpoint = await someEndpoint(store);
      await captureMany(store, endpoint.id, 3);
      expect(await store.matchCaptures(endpoint.id, INSTALLATION, { maxRows: 4 })).toBeUndefined();
      const destination = await add(endpoint, { query: 'body:number' });
      const other = await add(endpoint, { query: 'body:"number 4"' });
      await captureMany(store, endpoint.id, 6);
      await capture(store, [{ to: endpoint.id, body: 'else' }]);
      expect((await store.unplannedEndpoints(1000)).map(({ id }) => id)).toContain(endpoint.id);
      await plan(endpoint.id);
      expect((await due(destination.id)).map(({ index }) => index)).toEqual([3, 4, 5, 6, 7, 8]);
      expect((await due(other.id)).map(({ index }) => index)).toEqual([7]);
      expect((await store.unplannedEndpoints(1000)).map(({ id }) => id)).not.toContain(endpoint.id);
      expect(await store.listDestinations(endpoint.id)).toMatchObject([{ pending: 6 }, { pending: 1 }]);
    });

    test('two planners plan each capture once', async () => {
      const endpoint = await someEndpoint(store);
      const destination = await add(endpoint);
      await captureMany(store, endpoint.id, 20);
      await Promise.all([plan(endpoint.id), plan(endpoint.id), plan(endpoint.id)]);
      const indexes = (await due(destination.id)).map(({ index }) => index);
      expect(indexes).toEqual(Array.from({ length: 20 }, (_, nth) => nth));
    });

    test('beyond the maximum are refused, and the request says so', async () => {
      const endpoint = await someEndpoint(store);
      await add(endpoint);
      await captureMany(store, endpoint.id, 6);
      const refused = (await plan(endpoint.id, 4)).flatMap((result) => result.refused);
      expect(refused.map(({ index }) => index)).toEqual([4, 5]);
      const [newest] = await everything(store, endpoint.id);
      expect(newest?.delivery).toEqual({
        last: {
          kind: 'forward',
          status: null,
          error: 'Not forwarded: too many deliveries are waiting',
          at: new Date(T0).toISOString(),
        },
        isPending: false,
      });
    });

    test('are planned without hurry while their destination has enough to send', async () => {
      const endpoint = await someEndpoint(store);
      await add(endpoint);
      await captureMany(store, endpoint.id, 99);
      await plan(endpoint.id);
      const isBehindAt = async (now: number): Promise<boolean | undefined> => {
        await captureMany(store, endpoint.id, 1);
        return (await planStep(endpoint.id, now))?.result?.isBehind;
      };
      expect(await isBehindAt(T0 + 1000)).toBe(false);
      expect(await isBehindAt(T0 + 100)).toBe(false);
      expect(await isBehindAt(T0 + 1000)).toBe(true);
    });

    test('are due at once while earlier ones wait for their next attempt', async () => {
      const { endpoint, destination, delivery } = await dueDelivery();
      const isDue = async (): Promise<boolean> =>
        (await store.dueDestinations('a', T0 + 1000, 10_000)).includes(destination.id);
      const failed = { status: 500, nextAttemptAt: T0 + 5000 };
      await record([attemptOf(destination, delivery, failed)]);
      expect(await isDue()).toBe(false);
      await captureMany(store, endpoint.id, 1);
      await plan(endpoint.id);
      expect(await isDue()).toBe(true);
    });

    test('are due in order after the clock was set back', async () => {
      const { endpoint, destination } = await dueDelivery(2);
      const back = T0 - 3_600_000;
      await captureMany(store, endpoint.id, 2);
      await planStep(endpoint.id, back);
      expect((await due(destination.id, back)).map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    });

    test('wait at most their longest wait after the clock was set back', async () => {
      const endpoint = await someEndpoint(store);
      const [failed, waiting] = [await add(endpoint, { query: 'body:"number 0"' }), await add(endpoint)];
      await captureMany(store, endpoint.id, 2);
      await plan(endpoint.id);
      const outcome = { status: 500, nextAttemptAt: T0 + 5000 };
      await record((await due(failed.id)).map((delivery) => attemptOf(failed, delivery, outcome)));
      const now = T0 - 3_600_000;
      await store.shortenWaits(now, [0, 6000]);
      const dueAt = (time: number) => store.dueDestinations('a', time, 10_000);
      expect(await dueAt(now)).toContain(waiting.id);
      expect((await due(waiting.id, now)).map(({ index }) => index)).toEqual([0, 1]);
      expect(await due(failed.id, now + 5999)).toEqual([]);
      await store.shortenWaits(now, [0, 6000]);
      expect(await dueAt(now + 6000)).toContain(failed.id);
      expect(await due(failed.id, now + 6000)).toHaveLength(1);
    });

    test('of a destination that is off are not planned, and its captures are not sent later', async () => {
      const { endpoint, destination } = await dueDelivery();
      await store.changeDestination(endpoint.id, destination.id, { enabled: false }, T0);
      await captureMany(store, endpoint.id, 2);
      expect(await store.dueDestinations('me', T0 + 5000, 10_000)).not.toContainEqual(
        expect.objectContaining({ id: destination.id }),
      );
      await store.changeDestination(endpoint.id, destination.id, { enabled: true }, T0);
      await captureMany(store, endpoint.id, 1);
      await plan(endpoint.id);
      expect((await due(destination.id)).map(({ index }) => index)).toEqual([0, 3]);
    });

    test('spare their requests from the trim until they end', async () => {
      const endpoint = await someEndpoint(store);
      const destination = await add(endpoint);
      for (let nth = 0; nth < 3; nth += 1) {
        await captureMany(store, endpoint.id, 4, LIMITS);
        await expectCounted(store, endpoint.uid);
        if (nth === 1) await plan(endpoint.id);
      }
      // All are pending, or not planned yet.
      expect(await stored(endpoint.id)).toHaveLength(12);
      await plan(endpoint.id);
      expect(await stored(endpoint.id)).toHaveLength(12);
      const deliveries = await due(destination.id);
      const [first, ...others] = deliveries;
      if (first === undefined) throw new Error('Nothing is due.');
      await record(others.map((delivery) => attemptOf(destination, delivery)));
      await expectCounted(store, endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([11, 10, 9, 8, 0]);
      await captureMany(store, endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      await expectCounted(store, endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([12, 11, 10, 0]);
      await record([attemptOf(destination, first)]);
      await expectCounted(store, endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([12, 11, 10]);
      expect(await store.listAttempts(endpoint.id, 0)).toEqual([]);
    });

    test('that are not planned yet spare their requests, also after a replay', async () => {
      const endpoint = await someEndpoint(store);
      const destination = await add(endpoint);
      for (let nth = 0; nth < 2; nth += 1) await captureMany(store, endpoint.id, 4, LIMITS);
      const replay = { kind: 'replay', destinationId: null } as const;
      await record([attemptOf(destination, { id: 'dlv_replay', index: 0, attempts: 0 }, replay)]);
      await plan(endpoint.id);
      expect(indexesOf(await due(destination.id))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      await expectCounted(store, endpoint.uid);
    });

    test('spare no more requests than a batch trims', async () => {
      const endpoint = await someEndpoint(store);
      const destination = await add(endpoint);
      const large = { to: endpoint.id, body: 'x'.repeat(5_000_000) };
      for (let nth = 0; nth < 3; nth += 1) await capture(store, [large], LIMITS);
      await plan(endpoint.id);
      const [, ...others] = await due(destination.id);
      await record(others.map((delivery) => attemptOf(destination, delivery)));
      await captureMany(store, endpoint.id, 3, LIMITS);
      await expect.poll(() => stored(endpoint.id)).toEqual([5, 4, 3, 0]);
      await expectCounted(store, endpoint.uid);
    });

    test('that match nothing do not keep requests that the trim spared', async () => {
      const endpoint = await someEndpoint(store);
      await add(endpoint, { query: 'body:nothing' });
      await captureMany(store, endpoint.id, 4, LIMITS);
      await captureMany(store, endpoint.id, 4, LIMITS);
      expect(await stored(endpoint.id)).toHaveLength(8);
      await plan(endpoint.id);
      await expectCounted(store, endpoint.uid);
      // The last batch had no older capture to trim, so some are over the limit until the next one.
      expect((await stored(endpoint.id)).length).toBeLessThanOrEqual(4);
      await captureMany(store, endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      await expectCounted(store, endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([8, 7, 6]);
    });

    test('deleting several ends their deliveries, and corrects the counters of spared requests', async () => {
      const endpoint = await someEndpoint(store);
      const destination = await add(endpoint);
      for (let batch = 0; batch < 2; batch++) await captureMany(store, endpoint.id, 4, LIMITS);
      await plan(endpoint.id);
      const [first] = await due(destination.id);
      if (first !== undefined) await record([attemptOf(destination, first)]);
      await store.saveRequest(endpoint.id, 1, { maxSaved: 100, bodyBytes: 0 });
      const { ids } = await store.deleteSome(endpoint.id, [7, 0, 1, 2]);
      expect(ids).toHaveLength(first?.index === 0 ? 3 : 4);
      await expectCounted(store, endpoint.uid);
      expect((await due(destination.id)).map(({ index }) => index).toSorted()).toEqual([3, 4, 5, 6]);
      expect(await store.listAttempts(endpoint.id, 7)).toEqual([]);
      await record((await due(destination.id)).map((delivery) => attemptOf(destination, delivery)));
      await expectCounted(store, endpoint.uid);
    });

    test('saving, deleting and clearing keep the counters of spared requests', async () => {
      const endpoint = await someEndpoint(store);
      const destination = await add(endpoint);
      await captureMany(store, endpoint.id, 4, LIMITS);
      await captureMany(store, endpoint.id, 4, LIMITS);
      await plan(endpoint.id);
      await store.saveRequest(endpoint.id, 0, { maxSaved: 100, bodyBytes: 0 });
      await store.deleteRequest(endpoint.id, { index: 1 });
      await expectCounted(store, endpoint.uid);
      const indexes = (await due(destination.id)).map(({ index }) => index);
      expect(indexes.toSorted()).toEqual([0, 2, 3, 4, 5, 6, 7]);
      await record((await due(destination.id)).map((delivery) => attemptOf(destination, delivery)));
      await expectCounted(store, endpoint.uid);
      await captureMany(store, endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      await expectCounted(store, endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([8, 7, 6, 0]);
      await store.clearRequests(endpoint.id);
      await expectCounted(store, endpoint.uid);
      expect(await due(destination.id)).toEqual([]);
      await captureMany(store, endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      expect((await due(destination.id)).map(({ index }) => index)).toEqual([9]);
    });

    test('of a deleted destination end in steps, and free the requests that were kept for them', async () => {
      const endpoint = await someEndpoint(store);
      const destination = await add(endpoint);
      await captureMany(store, endpoint.id, 4, LIMITS);
      await plan(endpoint.id);
      await captureMany(store, endpoint.id, 4, LIMITS);
      const step = () => store.removeDestination(endpoint.id, destination.id, 3);
      const steps = [await step(), await step(), await step()];
      expect(steps.map((each) => each?.isFinished)).toEqual([false, true, undefined]);
      expect(steps.flatMap((each) => each?.ended ?? []).toSorted()).toEqual([0, 1, 2, 3]);
      await expectCounted(store, endpoint.uid);
      await captureMany(store, endpoint.id, 1, LIMITS);
      expect(await stored(endpoint.id)).toEqual([8, 7, 6]);
      expect(await store.findEndpoint(endpoint.uid)).toMatchObject({ hasDestinations: false });
      await expectCounted(store, endpoint.uid);
    });

    test('are deleted with their endpoint', async () => {
      const { endpoint, destination, delivery } = await dueDelivery(3);
      await record([attemptOf(destination, delivery)]);
      await store.deleteEndpoint(endpoint.id);
      expect(await store.dueDeliveries(destination.id, [], { now: T0, limit: 1 })).toBeUndefined();
      while (await store.purgeSome(2));
      expect(await store.listAttempts(endpoint.id, delivery.index)).toEqual([]);
      expect(await record([attemptOf(destination, delivery)])).toEqual([null]);
    });
  });
}
