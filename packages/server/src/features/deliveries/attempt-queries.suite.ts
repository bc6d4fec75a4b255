import type { DestinationChange } from '@creel/contract';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { deliveryWorld } from '../../../test/delivery-world.ts';
import { DAY, T0, captureMany, everything, someEndpoint, someUser } from '../../../test/store-world.ts';
import { DestinationLeases } from './destination-leases.ts';
import type { DestinationWithPending } from './destination-queries.ts';
import { findLiveDeliveries, presentRecorded } from './present-delivery.ts';

/** Attempts of deliveries and the leases of destinations, on every database. */
export function attemptsSuite(store: AppStore): void {
  const { add, plan, due, dueDelivery, attemptOf, record } = deliveryWorld(store);

  describe('attempts', () => {
    test('a failure plans the next one, a success ends it, and the request has the latest', async () => {
      const { endpoint, destination, delivery } = await dueDelivery();
      const failed = { status: null, error: 'refused', nextAttemptAt: T0 + 5000 };
      const sent = attemptOf(destination, delivery, failed);
      const first = await record([sent]);
      // The caller has the response, which may be large.
      expect(first[0]).not.toHaveProperty('responseHeaders');
      expect(await due(destination.id, T0 + 4999)).toEqual([]);
      expect(await due(destination.id, T0 + 5000)).toEqual([{ ...delivery, attempts: 1 }]);
      expect(await due(destination.id, T0 + 5000, [delivery.id])).toEqual([]);
      const { state, ...attempt } = first[0] ?? { state: undefined };
      expect(await store.listAttempts(endpoint.id, 0)).toEqual([{ ...sent, ...attempt, durationMs: 2 }]);
      const [pending] = await everything(store, endpoint.id);
      expect(pending?.delivery).toMatchObject({ last: { status: null, error: 'refused' }, isPending: true });
      expect(state).toEqual(pending?.delivery);
      const body = new Uint8Array([0, 255]);
      await record([attemptOf(destination, { ...delivery, attempts: 1 }, { responseBody: body, at: T0 + 6000 })]);
      expect(await due(destination.id, T0 + 100_000)).toEqual([]);
      const [second, earlier] = await store.listAttempts(endpoint.id, 0);
      expect([second?.attempt, [...(second?.responseBody ?? [])], earlier?.nextAttemptAt]).toEqual([2, [0, 255], null]);
      const [delivered] = await everything(store, endpoint.id);
      expect(delivered?.delivery).toEqual({
        last: { kind: 'forward', status: 200, error: null, at: new Date(T0 + 6000).toISOString() },
        isPending: false,
      });
    });

    test('whose storing was not answered are stored and counted once', async () => {
      const { endpoint, destination } = await dueDelivery(3);
      const [ended, waiting, other] = await due(destination.id);
      if (ended === undefined || waiting === undefined || other === undefined) throw new Error('Too few are due.');
      const unanswered = [
        attemptOf(destination, ended, { status: 404 }),
        attemptOf(destination, waiting, { status: 500, nextAttemptAt: T0 + 5000 }),
      ];
      const first = await record(unanswered);
      const again = await store.recordAttempts([...unanswered, attemptOf(destination, other)], T0, true);
      expect(again.slice(0, 2)).toEqual(first);
      expect(again[2]).toMatchObject({ deliveryId: other.id, status: 200 });
      const histories = await Promise.all([0, 1, 2].map((index) => store.listAttempts(endpoint.id, index)));
      expect(histories.map((attempts) => attempts.map(({ status }) => status))).toEqual([[404], [500], [200]]);
      const [known] = await store.listDestinations(endpoint.id);
      expect(known).toMatchObject({ recentStatuses: [404, 500, 200], pending: 1 });
      // The next attempt of the same delivery is another one.
      await store.recordAttempts([attemptOf(destination, { ...waiting, attempts: 1 }, { at: T0 + 5000 })], T0, true);
      expect(await store.listAttempts(endpoint.id, waiting.index)).toHaveLength(2);
    });

    test('other nodes send what this node sends, in the order of the notice, without what was deleted', async () => {
      const { endpoint, destination } = await dueDelivery(2);
      const [waiting, ended] = await due(destination.id);
      if (waiting === undefined || ended === undefined) throw new Error('Too few are due.');
      const recorded = await record([
        attemptOf(destination, waiting, { status: 500, nextAttemptAt: T0 + 5000 }),
        attemptOf(destination, ended),
      ]);
      const [first, second] = recorded.flatMap((attempt) => attempt ?? []);
      if (first === undefined || second === undefined) throw new Error('They were not recorded.');
      const unknown = second.id + 1000;
      const found = await findLiveDeliveries(store, endpoint.id, [
        [1, second.id],
        [0, 0],
        [0, first.id],
        [0, unknown],
        [7, 0],
      ]);
      expect(found).toEqual([
        presentRecorded(second),
        {
          ...presentRecorded(first),
          delivery: expect.objectContaining({ id: 0, attempt: 0, nextAttemptAt: null }),
        },
        presentRecorded(first),
      ]);
    });

    test('of several destinations: a failure is shown until it is repaired, and a replay shows its own outcome', async () => {
      const endpoint = await someEndpoint(store);
      const [one, two] = [await add(endpoint), await add(endpoint)];
      await captureMany(store, endpoint.id, 1);
      await plan(endpoint.id);
      let at = T0;
      const send = async (to: DestinationWithPending, status: number, nextAttemptAt: number | null = null) => {
        const { deliveries } = (await store.dueDeliveries(to.id, [], { now: T0 + 9000, limit: 1 })) ?? {};
        const [delivery] = deliveries ?? [];
        if (delivery === undefined) throw new Error('Nothing is due.');
        at += 1;
        const [recorded] = await record([attemptOf(to, delivery, { status, nextAttemptAt, at })]);
        const [row] = await everything(store, endpoint.id);
        expect(recorded?.state).toEqual(row?.delivery);
        return { id: delivery.id, shown: [row?.delivery?.last?.status, row?.delivery?.isPending] };
      };
      expect((await send(one, 200)).shown).toEqual([200, true]);
      expect((await send(two, 503, T0 + 5000)).shown).toEqual([503, true]);
      const { id } = await send(two, 404);
      await store.retryDelivery(endpoint.id, id, T0);
      expect((await send(two, 200)).shown).toEqual([200, false]);

      await captureMany(store, endpoint.id, 1);
      await plan(endpoint.id);
      expect((await send(two, 500)).shown).toEqual([500, true]);
      expect((await send(one, 200)).shown).toEqual([500, false]);
      const delivery = { id: 'dlv_replay', index: 1, attempts: 0 };
      const replay = attemptOf(one, delivery, { kind: 'replay', destinationId: null, at: T0 + 100 });
      expect((await record([replay]))[0]?.state?.last).toMatchObject({ kind: 'replay', status: 200 });
      await captureMany(store, endpoint.id, 1);
      await plan(endpoint.id);
      expect((await send(two, 500)).shown).toEqual([500, true]);
      await store.removeDestination(endpoint.id, two.id, 10);
      expect((await send(one, 200)).shown).toEqual([200, false]);
    });

    test('fifty failures in a row pause the destination and write one notice, whatever group they are stored in', async () => {
      const { id: userId } = await someUser(store, { emailVerified: true });
      const endpoint = await someEndpoint(store, { userId });
      const destination = await add(endpoint);
      await captureMany(store, endpoint.id, 60);
      await plan(endpoint.id);
      const failures = (await due(destination.id)).map((delivery) =>
        attemptOf(destination, delivery, { status: 500, statusText: 'Broken', nextAttemptAt: T0 + 5000 }),
      );
      await record(failures.slice(0, 30));
      expect(await store.claimMail(DAY)).toBeUndefined();
      await record(failures.slice(30, 50), T0 + 7);
      await record(failures.slice(50, 52));
      const mail = await store.claimMail(DAY);
      expect(mail?.user.id).toBe(endpoint.userId);
      expect(JSON.parse(mail?.content ?? '')).toMatchObject({
        kind: 'destination-paused',
        reason: expect.stringMatching(/500 Broken$/),
        pausedAt: T0 + 7,
        endpointUid: endpoint.uid,
      });
      expect(await store.claimMail(DAY)).toBeUndefined();
      expect(await store.dueDeliveries(destination.id, [], { now: T0 + 9000, limit: 1 })).toBeUndefined();
      expect(await store.listDestinations(endpoint.id)).toMatchObject([
        { pausedAt: T0 + 7, pending: 60, recentStatuses: Array.from({ length: 20 }, () => 500) },
      ]);
      await store.changeDestination(endpoint.id, destination.id, { enabled: true }, T0 + 100);
      expect(await due(destination.id, T0 + 100)).toHaveLength(60);
    });

    test('a pause writes no notice to an address that its owner has not confirmed', async () => {
      const { endpoint, destination } = await dueDelivery(50);
      const failed = { status: 500, nextAttemptAt: T0 + 5000 };
      await record((await due(destination.id)).map((delivery) => attemptOf(destination, delivery, failed)));
      expect(await store.listDestinations(endpoint.id)).toMatchObject([{ pausedAt: T0 }]);
      expect(await store.claimMail(DAY)).toBeUndefined();
    });

    test('of a deleted request are dropped', async () => {
      const { endpoint, destination } = await dueDelivery(2);
      const attempts = (await due(destination.id)).map((delivery) => attemptOf(destination, delivery));
      await store.deleteRequest(endpoint.id, { index: 0 });
      const results = await record(attempts);
      expect(results.map((result) => result?.index ?? null)).toEqual([null, 1]);
    });

    test('have the present destination, and none when they have ended or it does not send', async () => {
      const { endpoint, destination } = await dueDelivery(2);
      const [first, second] = await due(destination.id);
      if (first === undefined || second === undefined) throw new Error('Nothing is due.');
      const change = (changes: DestinationChange) => store.changeDestination(endpoint.id, destination.id, changes, T0);
      await change({ url: 'http://127.0.0.1:9/new' });
      expect(await store.findActiveDestination(first.id)).toMatchObject({
        id: destination.id,
        url: 'http://127.0.0.1:9/new',
      });
      await change({ enabled: false });
      expect(await store.findActiveDestination(first.id)).toBeUndefined();
      await change({ enabled: true });
      await record([attemptOf(destination, first)]);
      expect(await store.findActiveDestination(first.id)).toBeUndefined();
      expect(await store.findActiveDestination(second.id)).toMatchObject({ id: destination.id });
      await store.clearRequests(endpoint.id);
      expect(await store.findActiveDestination(second.id)).toBeUndefined();
    });

    test('nothing follows an attempt whose destination was deleted meanwhile', async () => {
      const { endpoint, destination, delivery } = await dueDelivery();
      await store.removeDestination(endpoint.id, destination.id, 100);
      const failed = attemptOf(destination, delivery, { status: 500, nextAttemptAt: T0 + 9000 });
      const expected = { destinationId: null, nextAttemptAt: null, status: 500, state: { isPending: false } };
      expect(await record([failed])).toMatchObject([expected]);
      expect(await store.listAttempts(endpoint.id, 0)).toMatchObject([{ destinationId: null, nextAttemptAt: null }]);
    });

    test('a failure that is stored after the success of its delivery does not replace it', async () => {
      const { endpoint, destination, delivery } = await dueDelivery();
      await record([attemptOf(destination, delivery, { at: T0 + 20 })]);
      // Of a node that could not reach the database until its lease had expired.
      const [late] = await record([attemptOf(destination, delivery, { status: 500, nextAttemptAt: T0 + 5000 })]);
      const success = { last: { kind: 'forward', status: 200 }, isPending: false };
      expect(late?.state).toMatchObject(success);
      expect(await everything(store, endpoint.id)).toMatchObject([{ delivery: success }]);
      expect(await store.listAttempts(endpoint.id, 0)).toMatchObject([{ status: 500 }, { status: 200 }]);
      const [another] = await record([attemptOf(destination, { ...delivery, id: 'of another destination' })]);
      expect(another?.state).toMatchObject(success);
      expect(await store.retryDelivery(endpoint.id, delivery.id, T0)).toEqual({ destinationId: destination.id });
      await record([attemptOf(destination, { ...delivery, attempts: 1 }, { status: 502 })]);
      const failure = { last: { kind: 'forward', status: 502 }, isPending: false };
      expect(await everything(store, endpoint.id)).toMatchObject([{ delivery: failure }]);
    });

    test('a failure that is stored after a later attempt of its delivery changes only the history', async () => {
      const { endpoint, destination, delivery } = await dueDelivery();
      const failed = (attempts: number, nextAttemptAt: number | null, status = 500) =>
        record([attemptOf(destination, { ...delivery, attempts }, { status, nextAttemptAt })]);
      const state = async () => [
        await due(destination.id, T0 + 40_000),
        (await everything(store, endpoint.id))[0]?.delivery,
      ];
      await failed(0, T0 + 5000);
      await failed(1, T0 + 35_000);
      const before = await state();
      const [late] = await failed(0, T0 + 50_000, 502);
      expect(late).toMatchObject({ attempt: 1, status: 502, nextAttemptAt: null, state: { isPending: true } });
      expect(await state()).toEqual(before);
      // The last failure of another node does not end a retry either.
      await failed(7, null);
      await store.retryDelivery(endpoint.id, delivery.id, T0);
      await failed(7, null, 502);
      expect(await due(destination.id)).toEqual([{ ...delivery, attempts: 8 }]);
      expect(await store.listAttempts(endpoint.id, 0)).toHaveLength(5);
    });

    test('retries find deliveries of this endpoint only', async () => {
      const other = await someEndpoint(store);
      const { endpoint, destination, delivery } = await dueDelivery();
      const retry = (endpointId: number) => store.retryDelivery(endpointId, delivery.id, T0 + 50);
      await record([attemptOf(destination, delivery, { status: 500, nextAttemptAt: T0 + 9000 })]);
      expect(await retry(other.id)).toBe('notFound');
      expect(await retry(endpoint.id)).toEqual({ destinationId: destination.id });
      expect(await due(destination.id, T0 + 50)).toEqual([{ ...delivery, attempts: 1 }]);
      await record([attemptOf(destination, { ...delivery, attempts: 1 })]);
      expect(await retry(other.id)).toBe('notFound');
      expect(await retry(endpoint.id)).toEqual({ destinationId: destination.id });
      expect(await due(destination.id, T0 + 50)).toEqual([{ ...delivery, attempts: 2 }]);
      const planned = { destinationId: destination.id };
      expect(await Promise.all([retry(endpoint.id), retry(endpoint.id)])).toEqual([planned, planned]);
      expect(await due(destination.id, T0 + 50)).toEqual([{ ...delivery, attempts: 2 }]);
      await store.changeDestination(endpoint.id, destination.id, { enabled: false }, T0);
      expect(await retry(endpoint.id)).toBe('off');
    });

    test('a delivery of a cleared request is not sent again, also before the request is removed', async () => {
      const { endpoint, destination, delivery } = await dueDelivery();
      await record([attemptOf(destination, delivery)]);
      await store.clearRequests(endpoint.id);
      expect(await store.retryDelivery(endpoint.id, delivery.id, T0 + 50)).toBe('notFound');
      expect(await due(destination.id, T0 + 50)).toEqual([]);
    });
  });

  describe('leases', () => {
    test('one of five processes gets a destination, until its lease expires or is released', async () => {
      const { destination } = await dueDelivery();
      const { id } = destination;
      const isDue = async (owner: string) => (await store.dueDestinations(owner, T0 + 1000, 10_000)).includes(id);
      const claim = (owner: string) => store.claimDestinations([id], owner, 60_000);
      expect(await isDue('a')).toBe(true);
      const claims = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((owner) => claim(owner)));
      expect(claims.flat()).toEqual([id]);
      const owner = ['a', 'b', 'c', 'd', 'e'][claims.findIndex((ids) => ids.length > 0)] ?? '';
      expect(await isDue(owner)).toBe(true);
      expect(await claim(owner)).toEqual([id]);
      expect(await isDue('f')).toBe(false);
      expect(await store.renewLeases(owner, 60_000)).toContain(id);
      expect(await claim('f')).toEqual([]);
      expect(await store.renewLeases(owner, 0)).toContain(id);
      expect(await store.renewLeases('g', 60_000)).toEqual([]);
      expect(await isDue('f')).toBe(true);
      expect(await claim('f')).toEqual([id]);
      expect(await store.renewLeases(owner, 60_000)).not.toContain(id);
      await store.releaseLeases('f', [id]);
      expect(await claim('g')).toEqual([id]);
    });

    test.each(['claim', 'release'])(
      'a destination is sent to again after the answer to its %s was lost',
      async (lost) => {
        const { destination } = await dueDelivery();
        const now = performance.now.bind(performance);
        let aheadMs = 0;
        vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
        let losesAnswers = lost === 'claim';
        let sent = 0;
        const answer = <Value>(value: Value): Value => {
          if (losesAnswers) throw new Error('The connection was lost.');
          return value;
        };
        const leases = new DestinationLeases({
          store: {
            ...store,
            claimDestinations: async (...args) => answer(await store.claimDestinations(...args)),
            releaseLeases: async (...args) => store.releaseLeases(...answer(args)),
          },
          now: () => T0 + 1000,
          async sendAll({ id }) {
            if (id === destination.id) sent += 1;
          },
        });
        onTestFinished(async () => {
          vi.restoreAllMocks();
          await leases.end();
        });
        if (lost === 'release') {
          await leases.poll();
          // Now it is idle.
          aheadMs += 60_000;
          losesAnswers = true;
        }
        await expect(leases.poll()).rejects.toThrow('The connection was lost.');
        losesAnswers = false;
        sent = 0;
        await leases.poll();
        aheadMs += 3000;
        await leases.poll();
        expect(sent).toBe(1);
      },
    );
  });
}
