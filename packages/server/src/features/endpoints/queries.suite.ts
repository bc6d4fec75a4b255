import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { DAY, T0, anyPlan, capture, someEndpoint, someUser, unique } from '../../../test/store-world.ts';

const NOWHERE = 2_000_000_000;

/** Endpoints, their limits and their changes. */
export function endpointsSuite(store: AppStore): void {
  describe('endpoints', () => {
    test('a new one is found by its exact uid', async () => {
      const endpoint = await someEndpoint(store, {
        uid: unique('Aa_-'),
        name: 'Näme 🦀',
        source: 'Stripe',
        autosave: true,
      });
      expect(endpoint).toMatchObject({
        name: 'Näme 🦀',
        source: 'Stripe',
        autosave: true,
        isFavorite: false,
        createdAt: T0,
        expiresAt: T0 + DAY,
      });
      expect(endpoint).toMatchObject({ savedCount: 0, unsavedCount: 0, latestAt: null });
      expect(await store.findEndpoint(endpoint.uid)).toEqual(endpoint);
      expect(await store.findEndpointDetail(endpoint.uid)).toEqual({ ...endpoint, methodCounts: [] });
      expect(await store.findEndpoint(endpoint.uid.toLowerCase())).toBeUndefined();
      expect(await store.findEndpointDetail(unique('uid'))).toBeUndefined();
    });

    test('the list has favorites first, then newest first, and only the user’s own', async () => {
      const { id: userId } = await someUser(store);
      const [a, b, c] = [
        await someEndpoint(store, { userId, createdAt: T0 }),
        await someEndpoint(store, { userId, createdAt: T0 + 2 }),
        await someEndpoint(store, { userId, createdAt: T0 + 1 }),
      ];
      await someEndpoint(store);
      await store.changeEndpoint(a.id, { favorite: { on: true, now: 0, plans: anyPlan() } });
      expect((await store.listEndpoints(userId)).map((endpoint) => endpoint.id)).toEqual([a.id, b.id, c.id]);
      expect(await store.listEndpoints(NOWHERE)).toEqual([]);
    });

    test('the limit counts unexpired ones, at that exact moment', async () => {
      const { id: userId } = await someUser(store);
      const create = (createdAt: number) =>
        store.createEndpoint(
          { uid: unique('uid'), userId, name: null, source: null, createdAt, autosave: false },
          anyPlan({ endpoints: 1, expiryMs: 1000 }),
        );
      expect(await create(T0)).toMatchObject({ userId, expiresAt: T0 + 1000 });
      expect(await create(T0 + 999)).toEqual({ limit: 'endpoints', tier: 'FREE' });
      expect(await create(T0 + 1000)).toMatchObject({ userId });
    });

    test('of 50 parallel creations exactly the allowed number succeeds', async () => {
      const { id: userId } = await someUser(store);
      const tries = await Promise.all(
        Array.from({ length: 50 }, () =>
          store.createEndpoint(
            { uid: unique('uid'), userId, name: null, source: null, createdAt: T0, autosave: false },
            anyPlan({ endpoints: 5 }),
          ),
        ),
      );
      expect(tries.filter((one) => one !== undefined && 'uid' in one)).toHaveLength(5);
      expect(await store.listEndpoints(userId)).toHaveLength(5);
    });

    test('none is created for a deleted user', async () => {
      const { id: userId } = await someUser(store);
      await store.deleteUser(userId);
      const orphan = { uid: unique('uid'), userId, name: null, source: null, createdAt: T0, autosave: false };
      expect(await store.createEndpoint(orphan, anyPlan())).toBeUndefined();
      expect(await store.findEndpoint(orphan.uid)).toBeUndefined();
    });

    test('a change affects only the given fields', async () => {
      const endpoint = await someEndpoint(store, { name: 'old', source: 'GitHub' });
      expect(await store.changeEndpoint(endpoint.id, {})).toEqual(endpoint);
      expect(await store.changeEndpoint(endpoint.id, { name: 'new' })).toEqual({ ...endpoint, name: 'new' });
      expect(await store.changeEndpoint(endpoint.id, { name: null, source: null })).toEqual({
        ...endpoint,
        name: null,
        source: null,
      });
      expect(await store.changeEndpoint(endpoint.id, { autosave: true })).toMatchObject({
        autosave: true,
        expiresAt: endpoint.expiresAt,
      });
      expect(await store.changeEndpoint(NOWHERE, { name: 'x' })).toBeUndefined();
      expect(await store.changeEndpoint(NOWHERE, { favorite: { on: true, now: 0, plans: anyPlan() } })).toBeUndefined();
    });

    test('a favorite does not expire; unmarked, it expires by the plan; another endpoint stays as it is', async () => {
      const endpoint = await someEndpoint(store);
      const off = { on: false, now: T0 + 5 * DAY, plans: anyPlan({ expiryMs: 0 }) } as const;
      expect(await store.changeEndpoint(endpoint.id, { favorite: off })).toEqual(endpoint);
      const on = await store.changeEndpoint(endpoint.id, {
        favorite: { on: true, now: 0, plans: anyPlan() },
      });
      expect(on).toEqual({ ...endpoint, isFavorite: true, expiresAt: null });
      expect(await store.changeEndpoint(endpoint.id, { favorite: { on: true, now: 0, plans: anyPlan() } })).toEqual(on);
      expect(await store.changeEndpoint(endpoint.id, { favorite: off })).toEqual({
        ...endpoint,
        isFavorite: false,
        expiresAt: T0 + 5 * DAY,
      });
    });

    test('of 50 parallel favorites exactly the allowed number succeeds', async () => {
      const { id: userId } = await someUser(store);
      const endpoints = await Promise.all(Array.from({ length: 50 }, () => someEndpoint(store, { userId })));
      const tries = await Promise.all(
        endpoints.map(({ id }) =>
          store.changeEndpoint(id, {
            favorite: { on: true, now: 0, plans: anyPlan({ favorites: 3 }) },
            name: 'chosen',
          }),
        ),
      );
      expect(tries.filter((one) => one !== undefined && 'limit' in one)).toHaveLength(47);
      const kept = await store.listEndpoints(userId);
      expect(kept.filter((endpoint) => endpoint.isFavorite)).toHaveLength(3);
      // A rejected change changes nothing at all.
      expect(kept.filter((endpoint) => endpoint.name === 'chosen')).toHaveLength(3);
    });

    test('a detected source is set once, and never replaces a given one', async () => {
      const endpoint = await someEndpoint(store);
      const tries = await Promise.all(
        ['Stripe', 'GitHub'].map((source) => store.setDetectedSource(endpoint.id, source)),
      );
      expect(tries.toSorted()).toEqual([false, true]);
      expect(await store.setDetectedSource((await someEndpoint(store, { source: 'mine' })).id, 'Stripe')).toBe(false);
      expect(await store.setDetectedSource(NOWHERE, 'Stripe')).toBe(false);
    });

    test('a deleted one disappears with its requests, and is deleted once', async () => {
      const endpoint = await someEndpoint(store);
      await capture(store, [{ to: endpoint.id, body: 'x' }]);
      const tries = await Promise.all([store.deleteEndpoint(endpoint.id), store.deleteEndpoint(endpoint.id)]);
      expect(tries.toSorted()).toEqual([false, true]);
      expect(await store.findEndpoint(endpoint.uid)).toBeUndefined();
      expect(await store.listRequests({ endpointId: endpoint.id, which: 'any', limit: 10, bodyBytes: 10 })).toEqual([]);
      expect(await store.findRequest(endpoint.id, { index: 0 })).toBeUndefined();
      expect(await capture(store, [{ to: endpoint.id }])).toEqual([{ index: -1, savedId: 0 }]);
      expect(await store.deleteEndpoint(NOWHERE)).toBe(false);
    });
  });
}
