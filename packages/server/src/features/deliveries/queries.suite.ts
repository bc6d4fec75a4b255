import type { DestinationCreate } from '@creel/contract';
import { describe, expect, test } from 'vitest';
import type { CaptureLimits } from '../../database/store.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { AppStore } from '../../queries.ts';
import {
  DAY,
  T0,
  capture,
  captureMany,
  countersAndRecount,
  everything,
  indexesOf,
  someEndpoint,
  someUser,
} from '../../../test/store-world.ts';
import { deliveryAttempt } from '../../../test/delivery-attempt.ts';
import type { Attempt } from './attempt-queries.ts';
import { markOf } from './delivery-plan.ts';
import type { PlanResult } from './plan-queries.ts';
import type { DestinationWithPending } from './destination-queries.ts';

const INSTALLATION = { mark: markOf('test'), secret: 'test' };
const LIMITS: CaptureLimits = { maxUnsaved: 3, maxSaved: 100 };

/** Destinations and deliveries, on every database. */
export function deliveriesSuite(open: () => AppStore): void {
  const add = async (
    endpoint: EndpointRecord,
    fields: Partial<DestinationCreate> = {},
  ): Promise<DestinationWithPending> => {
    const all = { url: 'http://127.0.0.1:9/', appendPath: false, enabled: true, query: '', sign: false, ...fields };
    const created = await open().createDestination(endpoint.id, all, { now: T0, limit: 5 });
    if (created === undefined || created === 'limit') throw new Error(`Not created: ${created}`);
    return created;
  };
  /** Plans everything, in steps of a few captures. */
  const plan = async (endpointId: number, maxPending = 10_000): Promise<PlanResult[]> => {
    const results: PlanResult[] = [];
    for (;;) {
      const matched = await open().matchCaptures(endpointId, INSTALLATION, { maxRows: 4 });
      if (matched === undefined) return results;
      const result = await open().planCaptures(endpointId, matched, { now: T0, maxPending });
      if (result !== undefined) results.push(result);
    }
  };
  const due = async (destinationId: number, now = T0 + 1000, sending: string[] = []) =>
    (await open().dueDeliveries(destinationId, sending, { now, limit: 100 }))?.deliveries ?? [];
  const attemptOf = (
    { id, endpointId }: DestinationWithPending,
    delivery: { id: string; index: number; attempts: number },
    result: Partial<Attempt> = {},
  ): Attempt => {
    const attempt = delivery.attempts + 1;
    const of = { endpointId, index: delivery.index, deliveryId: delivery.id, destinationId: id, attempt };
    return deliveryAttempt({ ...of, at: T0, ...result });
  };
  const record = (attempts: readonly Attempt[], now = T0) => open().recordAttempts(attempts, now);
  const stored = async (endpointId: number): Promise<number[]> => indexesOf(await everything(open(), endpointId));
  const expectCounted = async (uid: string): Promise<void> => {
    const { kept, counted } = await countersAndRecount(open(), uid);
    expect(kept).toEqual(counted);
  };

  describe('deliveries', () => {
    test('are planned once, for captures after the destination that match, in order', async () => {
      const endpoint = await someEndpoint(open());
      await captureMany(open(), endpoint.id, 3);
      expect(await open().matchCaptures(endpoint.id, INSTALLATION, { maxRows: 4 })).toBeUndefined();
      const destination = await add(endpoint, { query: 'body:number' });
      const other = await add(endpoint, { query: 'body:"number 4"' });
      await captureMany(open(), endpoint.id, 6);
      await capture(open(), [{ to: endpoint.id, body: 'else' }]);
      expect((await open().unplannedEndpoints(1000)).map(({ id }) => id)).toContain(endpoint.id);
      await plan(endpoint.id);
      expect((await due(destination.id)).map(({ index }) => index)).toEqual([3, 4, 5, 6, 7, 8]);
      expect((await due(other.id)).map(({ index }) => index)).toEqual([7]);
      expect((await open().unplannedEndpoints(1000)).map(({ id }) => id)).not.toContain(endpoint.id);
      expect(await open().listDestinations(endpoint.id)).toMatchObject([{ pending: 6 }, { pending: 1 }]);
    });

    test('two planners plan each capture once', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 20);
      await Promise.all([plan(endpoint.id), plan(endpoint.id), plan(endpoint.id)]);
      const indexes = (await due(destination.id)).map(({ index }) => index);
      expect(indexes).toEqual(Array.from({ length: 20 }, (_, nth) => nth));
    });

    test('beyond the maximum are refused, and the request says so', async () => {
      const endpoint = await someEndpoint(open());
      await add(endpoint);
      await captureMany(open(), endpoint.id, 6);
      const refused = (await plan(endpoint.id, 4)).flatMap((result) => result.refused);
      expect(refused.map(({ index }) => index)).toEqual([4, 5]);
      const [newest] = await everything(open(), endpoint.id);
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

    test('with conditions that take too long are refused, and the request says so', async () => {
      const endpoint = await someEndpoint(open());
      const terms = Array.from({ length: 40 }, (_, nth) => `json.*.k:${nth}`);
      const destination = await add(endpoint, { query: terms.join(' OR ') });
      // Takes far longer than one slice of work, after which the limit of 0 ms applies.
      const body = JSON.stringify(Array.from({ length: 20_000 }, () => ({ k: 'other' })));
      await capture(open(), [{ to: endpoint.id, body }]);
      const matched = await open().matchCaptures(endpoint.id, INSTALLATION, { maxRows: 4, maxMatchMs: 0 });
      if (matched === undefined) throw new Error('Nothing to plan.');
      const planned = await open().planCaptures(endpoint.id, matched, { now: T0, maxPending: 10 });
      expect(planned?.refused).toMatchObject([{ index: 0 }]);
      const [newest] = await everything(open(), endpoint.id);
      const error = 'Not forwarded: the conditions take too long for this request';
      expect(newest?.delivery).toMatchObject({ last: { kind: 'forward', status: null, error }, isPending: false });
      expect(await due(destination.id)).toEqual([]);
    });

    test('of a destination that is off are not planned, and its captures are not sent later', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      await open().changeDestination(endpoint.id, destination.id, { enabled: false }, T0);
      await captureMany(open(), endpoint.id, 2);
      expect(await open().dueDestinations('me', T0 + 5000, 10_000)).not.toContainEqual(
        expect.objectContaining({ id: destination.id }),
      );
      await open().changeDestination(endpoint.id, destination.id, { enabled: true }, T0);
      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      expect((await due(destination.id)).map(({ index }) => index)).toEqual([0, 3]);
    });

    test('spare their requests from the trim until they end', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      for (let nth = 0; nth < 3; nth += 1) {
        await captureMany(open(), endpoint.id, 4, LIMITS);
        await expectCounted(endpoint.uid);
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
      await expectCounted(endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([11, 10, 9, 8, 0]);
      await captureMany(open(), endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      await expectCounted(endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([12, 11, 10, 0]);
      await record([attemptOf(destination, first)]);
      await expectCounted(endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([12, 11, 10]);
      expect(await open().listAttempts(endpoint.id, 0)).toEqual([]);
    });

    test('that match nothing do not keep what the trim spared', async () => {
      const endpoint = await someEndpoint(open());
      await add(endpoint, { query: 'body:nothing' });
      await captureMany(open(), endpoint.id, 4, LIMITS);
      await captureMany(open(), endpoint.id, 4, LIMITS);
      expect(await stored(endpoint.id)).toHaveLength(8);
      await plan(endpoint.id);
      await expectCounted(endpoint.uid);
      // The last batch had no older capture to trim, so some are over the limit until the next one.
      expect((await stored(endpoint.id)).length).toBeLessThanOrEqual(4);
      await captureMany(open(), endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      await expectCounted(endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([8, 7, 6]);
    });

    test('saving, deleting and clearing keep the counters of spared requests', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 4, LIMITS);
      await captureMany(open(), endpoint.id, 4, LIMITS);
      await plan(endpoint.id);
      await open().saveRequest(endpoint.id, 0, { maxSaved: 100, bodyBytes: 0 });
      await open().deleteRequest(endpoint.id, { index: 1 });
      await expectCounted(endpoint.uid);
      const indexes = (await due(destination.id)).map(({ index }) => index);
      expect(indexes.toSorted()).toEqual([0, 2, 3, 4, 5, 6, 7]);
      await record((await due(destination.id)).map((delivery) => attemptOf(destination, delivery)));
      await expectCounted(endpoint.uid);
      await captureMany(open(), endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      await expectCounted(endpoint.uid);
      expect(await stored(endpoint.id)).toEqual([8, 7, 6, 0]);
      await open().clearRequests(endpoint.id);
      await expectCounted(endpoint.uid);
      expect(await due(destination.id)).toEqual([]);
      await captureMany(open(), endpoint.id, 1, LIMITS);
      await plan(endpoint.id);
      expect((await due(destination.id)).map(({ index }) => index)).toEqual([9]);
    });

    test('of a deleted destination end in steps, and free what was kept for them', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 4, LIMITS);
      await plan(endpoint.id);
      await captureMany(open(), endpoint.id, 4, LIMITS);
      const step = () => open().removeDestination(endpoint.id, destination.id, 3);
      const steps = [await step(), await step(), await step()];
      expect(steps.map((each) => each?.isFinished)).toEqual([false, true, undefined]);
      expect(steps.flatMap((each) => each?.ended ?? []).toSorted()).toEqual([0, 1, 2, 3]);
      await expectCounted(endpoint.uid);
      await captureMany(open(), endpoint.id, 1, LIMITS);
      expect(await stored(endpoint.id)).toEqual([8, 7, 6]);
      expect(await open().findEndpoint(endpoint.uid)).toMatchObject({ hasDestinations: false });
      await expectCounted(endpoint.uid);
    });

    test('go with their endpoint', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 3);
      await plan(endpoint.id);
      const [delivery] = await due(destination.id);
      if (delivery === undefined) throw new Error('Nothing is due.');
      await record([attemptOf(destination, delivery)]);
      await open().deleteEndpoint(endpoint.id);
      expect(await open().dueDeliveries(destination.id, [], { now: T0, limit: 1 })).toBeUndefined();
      while (await open().purgeSome(2));
      expect(await open().listAttempts(endpoint.id, delivery.index)).toEqual([]);
      expect(await record([attemptOf(destination, delivery)])).toEqual([null]);
    });
  });

  describe('attempts', () => {
    test('a failure plans the next one, a success ends it, and the request has the latest', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      const [delivery] = await due(destination.id);
      if (delivery === undefined) throw new Error('Nothing is due.');
      const failed = { status: null, error: 'refused', nextAttemptAt: T0 + 5000 };
      const first = await record([attemptOf(destination, delivery, failed)]);
      expect(await due(destination.id, T0 + 4999)).toEqual([]);
      expect(await due(destination.id, T0 + 5000)).toEqual([{ ...delivery, attempts: 1 }]);
      expect(await due(destination.id, T0 + 5000, [delivery.id])).toEqual([]);
      const { state, ...attempt } = first[0] ?? { state: undefined };
      expect(await open().listAttempts(endpoint.id, 0)).toEqual([{ ...attempt, durationMs: 2 }]);
      const [pending] = await everything(open(), endpoint.id);
      expect(pending?.delivery).toMatchObject({ last: { status: null, error: 'refused' }, isPending: true });
      expect(state).toEqual(pending?.delivery);
      const body = new Uint8Array([0, 255]);
      await record([attemptOf(destination, { ...delivery, attempts: 1 }, { responseBody: body, at: T0 + 6000 })]);
      expect(await due(destination.id, T0 + 100_000)).toEqual([]);
      const [second, earlier] = await open().listAttempts(endpoint.id, 0);
      expect([second?.attempt, [...(second?.responseBody ?? [])], earlier?.nextAttemptAt]).toEqual([2, [0, 255], null]);
      const [delivered] = await everything(open(), endpoint.id);
      expect(delivered?.delivery).toEqual({
        last: { kind: 'forward', status: 200, error: null, at: new Date(T0 + 6000).toISOString() },
        isPending: false,
      });
    });

    test('of several destinations: a failure is shown until it is repaired, and a replay shows its own outcome', async () => {
      const endpoint = await someEndpoint(open());
      const [one, two] = [await add(endpoint), await add(endpoint)];
      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      let at = T0;
      const send = async (to: DestinationWithPending, status: number, nextAttemptAt: number | null = null) => {
        const { deliveries } = (await open().dueDeliveries(to.id, [], { now: T0 + 9000, limit: 1 })) ?? {};
        const [delivery] = deliveries ?? [];
        if (delivery === undefined) throw new Error('Nothing is due.');
        at += 1;
        const [recorded] = await record([attemptOf(to, delivery, { status, nextAttemptAt, at })]);
        const [row] = await everything(open(), endpoint.id);
        expect(recorded?.state).toEqual(row?.delivery);
        return { id: delivery.id, shown: [row?.delivery?.last?.status, row?.delivery?.isPending] };
      };
      expect((await send(one, 200)).shown).toEqual([200, true]);
      expect((await send(two, 503, T0 + 5000)).shown).toEqual([503, true]);
      const { id } = await send(two, 404);
      await open().retryDelivery(endpoint.id, id, T0);
      expect((await send(two, 200)).shown).toEqual([200, false]);

      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      expect((await send(two, 500)).shown).toEqual([500, true]);
      expect((await send(one, 200)).shown).toEqual([500, false]);
      const delivery = { id: 'dlv_replay', index: 1, attempts: 0 };
      const replay = attemptOf(one, delivery, { kind: 'replay', destinationId: null, at: T0 + 100 });
      expect((await record([replay]))[0]?.state?.last).toMatchObject({ kind: 'replay', status: 200 });
      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      expect((await send(two, 500)).shown).toEqual([500, true]);
      await open().removeDestination(endpoint.id, two.id, 10);
      expect((await send(one, 200)).shown).toEqual([200, false]);
    });

    test('fifty failures in a row pause the destination and write one notice, whatever group they are stored in', async () => {
      const { id: userId } = await someUser(open(), { emailVerified: true });
      const endpoint = await someEndpoint(open(), { userId });
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 60);
      await plan(endpoint.id);
      const failures = (await due(destination.id)).map((delivery) =>
        attemptOf(destination, delivery, { status: 500, statusText: 'Broken', nextAttemptAt: T0 + 5000 }),
      );
      await record(failures.slice(0, 30));
      expect(await open().claimMail(T0, T0 + 9000 * DAY)).toBeUndefined();
      await record(failures.slice(30, 50), T0 + 7);
      await record(failures.slice(50, 52));
      const mail = await open().claimMail(T0, T0 + 9000 * DAY);
      expect(mail?.user.id).toBe(endpoint.userId);
      expect(JSON.parse(mail?.content ?? '')).toMatchObject({
        kind: 'destination-paused',
        reason: expect.stringMatching(/500 Broken$/),
        pausedAt: T0 + 7,
        endpointUid: endpoint.uid,
      });
      expect(await open().claimMail(T0, T0 + 9000 * DAY)).toBeUndefined();
      expect(await open().dueDeliveries(destination.id, [], { now: T0 + 9000, limit: 1 })).toBeUndefined();
      expect(await open().listDestinations(endpoint.id)).toMatchObject([
        { pausedAt: T0 + 7, pending: 60, recentStatuses: Array.from({ length: 20 }, () => 500) },
      ]);
      await open().changeDestination(endpoint.id, destination.id, { enabled: true }, T0 + 100);
      expect(await due(destination.id, T0 + 100)).toHaveLength(60);
    });

    test('of a deleted request are dropped', async () => {
      const endpoint = await someEndpoint(open());
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 2);
      await plan(endpoint.id);
      const attempts = (await due(destination.id)).map((delivery) => attemptOf(destination, delivery));
      await open().deleteRequest(endpoint.id, { index: 0 });
      const results = await record(attempts);
      expect(results.map((result) => result?.index ?? null)).toEqual([null, 1]);
    });

    test('retries find deliveries of this endpoint only', async () => {
      const [endpoint, other] = [await someEndpoint(open()), await someEndpoint(open())];
      const destination = await add(endpoint);
      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      const [delivery] = await due(destination.id);
      if (delivery === undefined) throw new Error('Nothing is due.');
      const retry = (endpointId: number) => open().retryDelivery(endpointId, delivery.id, T0 + 50);
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
      await open().changeDestination(endpoint.id, destination.id, { enabled: false }, T0);
      expect(await retry(endpoint.id)).toBe('off');
    });
  });

  describe('leases', () => {
    test('one of five processes gets a destination, until its lease expires or is released', async () => {
      const endpoint = await someEndpoint(open());
      const { id } = await add(endpoint);
      await captureMany(open(), endpoint.id, 1);
      await plan(endpoint.id);
      const isDue = async (owner: string, now = T0 + 1000) =>
        (await open().dueDestinations(owner, now, 10_000)).find((destination) => destination.id === id);
      const claim = (owner: string, now = T0) => open().claimDestinations([id], owner, { now, until: now + 1000 });
      expect(await isDue('a')).toEqual({ id, isOwn: false });
      const claims = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((owner) => claim(owner)));
      expect(claims.flat()).toEqual([id]);
      const owner = ['a', 'b', 'c', 'd', 'e'][claims.findIndex((ids) => ids.length > 0)] ?? '';
      expect(await isDue(owner, T0 + 500)).toEqual({ id, isOwn: true });
      expect(await isDue('f', T0 + 500)).toBeUndefined();
      expect(await open().renewLeases(owner, T0 + 2000)).toContain(id);
      expect(await claim('f', T0 + 1999)).toEqual([]);
      expect(await claim('f', T0 + 2000)).toEqual([id]);
      expect(await open().renewLeases(owner, T0 + 3000)).not.toContain(id);
      await open().releaseLeases('f', id);
      expect(await claim('g', T0 + 2001)).toEqual([id]);
    });
  });
}
