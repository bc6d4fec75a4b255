import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { DAY, T0, anyPlan, capture, someEndpoint, someUser, unique } from '../../../test/store-world.ts';

const NOWHERE = 2_000_000_000;

/** Endpoints, their limits and their changes. */
export function endpointsSuite(open: () => AppStore): void {
  describe('endpoints', () => {
    test('a new one is found by its exact uid', async () => {
      const endpoint = await someEndpoint(open(), {
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
      expect(await open().findEndpoint(endpoint.uid)).toEqual(endpoint);
      expect(await open().findEndpointDetail(endpoint.uid)).toEqual({ ...endpoint, methodCounts: [] });
      expect(await open().findEndpoint(endpoint.uid.toLowerCase())).toBeUndefined();
      expect(await open().findEndpointDetail(unique('uid'))).toBeUndefined();
    });

    test('the list has favorites first, then newest first, and only the user’s own', async () => {
      const { id: userId } = await someUser(open());
      const [a, b, c] = [
        await someEndpoint(open(), { userId, createdAt: T0 }),
        await someEndpoint(open(), { userId, createdAt: T0 + 2 }),
        await someEndpoint(open(), { userId, createdAt: T0 + 1 }),
      ];
      await someEndpoint(open());
      await open().changeEndpoint(a.id, { favorite: { on: true, now: 0, plans: anyPlan() } });
      expect((await open().listEndpoints(userId)).map((endpoint) => endpoint.id)).toEqual([a.id, b.id, c.id]);
      expect(await open().listEndpoints(NOWHERE)).toEqual([]);
    });

    test('the limit counts unexpired ones, at that exact moment', async () => {
      const { id: userId } = await someUser(open());
      const create = (createdAt: number) =>
        open().createEndpoint(
          { uid: unique('uid'), userId, name: null, source: null, createdAt, autosave: false },
          anyPlan({ endpoints: 1, expiryMs: 1000 }),
        );
      expect(await create(T0)).toMatchObject({ userId, expiresAt: T0 + 1000 });
      expect(await create(T0 + 999)).toEqual({ limit: 'endpoints', tier: 'FREE' });
      expect(await create(T0 + 1000)).toMatchObject({ userId });
    });

    test('of 50 parallel creations exactly the allowed number succeeds', async () => {
      const { id: userId } = await someUser(open());
      const tries = await Promise.all(
        Array.from({ length: 50 }, () =>
          open().createEndpoint(
            { uid: unique('uid'), userId, name: null, source: null, createdAt: T0, autosave: false },
            anyPlan({ endpoints: 5 }),
          ),
        ),
      );
      expect(tries.filter((one) => one !== undefined && 'uid' in one)).toHaveLength(5);
      expect(await open().listEndpoints(userId)).toHaveLength(5);
    });

    test('none is created for a deleted user', async () => {
      const { id: userId } = await someUser(open());
      await open().deleteUser(userId);
      const orphan = { uid: unique('uid'), userId, name: null, source: null, createdAt: T0, autosave: false };
      expect(await open().createEndpoint(orphan, anyPlan())).toBeUndefined();
      expect(await open().findEndpoint(orphan.uid)).toBeUndefined();
    });

    test('a change affects only the given fields', async () => {
      const endpoint = await someEndpoint(open(), { name: 'old', source: 'GitHub' });
      expect(await open().changeEndpoint(endpoint.id, {})).toEqual(endpoint);
      expect(await open().changeEndpoint(endpoint.id, { name: 'new' })).toEqual({ ...endpoint, name: 'new' });
      expect(await open().changeEndpoint(endpoint.id, { name: null, source: null })).toEqual({
        ...endpoint,
        name: null,
        source: null,
      });
      expect(await open().changeEndpoint(endpoint.id, { autosave: true })).toMatchObject({
        autosave: true,
        expiresAt: endpoint.expiresAt,
      });
      expect(await open().changeEndpoint(NOWHERE, { name: 'x' })).toBeUndefined();
      expect(
        await open().changeEndpoint(NOWHERE, { favorite: { on: true, now: 0, plans: anyPlan() } }),
      ).toBeUndefined();
    });

    test('a favorite does not expire; a former one does, and only then', async () => {
      const endpoint = await someEndpoint(open());
      const off = { on: false, now: T0 + 5 * DAY, plans: anyPlan({ expiryMs: 0 }) } as const;
      expect(await open().changeEndpoint(endpoint.id, { favorite: off })).toEqual(endpoint);
      const on = await open().changeEndpoint(endpoint.id, {
        favorite: { on: true, now: 0, plans: anyPlan() },
      });
      expect(on).toEqual({ ...endpoint, isFavorite: true, expiresAt: null });
      expect(await open().changeEndpoint(endpoint.id, { favorite: { on: true, now: 0, plans: anyPlan() } })).toEqual(
        on,
      );
      expect(await open().changeEndpoint(endpoint.id, { favorite: off })).toEqual({
        ...endpoint,
        isFavorite: false,
        expiresAt: T0 + 5 * DAY,
      });
    });

    test('of 50 parallel favorites exactly the allowed number succeeds', async () => {
      const { id: userId } = await someUser(open());
      const endpoints = await Promise.all(Array.from({ length: 50 }, () => someEndpoint(open(), { userId })));
      const tries = await Promise.all(
        endpoints.map(({ id }) =>
          open().changeEndpoint(id, {
            favorite: { on: true, now: 0, plans: anyPlan({ favorites: 3 }) },
            name: 'chosen',
          }),
        ),
      );
      expect(tries.filter((one) => one !== undefined && 'limit' in one)).toHaveLength(47);
      const kept = await open().listEndpoints(userId);
      expect(kept.filter((endpoint) => endpoint.isFavorite)).toHaveLength(3);
      // A rejected change changes nothing at all.
      expect(kept.filter((endpoint) => endpoint.name === 'chosen')).toHaveLength(3);
    });

    test('a detected source is set once, and never replaces a given one', async () => {
      const endpoint = await someEndpoint(open());
      const tries = await Promise.all(
        ['Stripe', 'GitHub'].map((source) => open().setDetectedSource(endpoint.id, source)),
      );
      expect(tries.toSorted()).toEqual([false, true]);
      expect(await open().setDetectedSource((await someEndpoint(open(), { source: 'mine' })).id, 'Stripe')).toBe(false);
      expect(await open().setDetectedSource(NOWHERE, 'Stripe')).toBe(false);
    });

    test('a deleted one disappears with its requests, and is deleted once', async () => {
      const endpoint = await someEndpoint(open());
      await capture(open(), [{ to: endpoint.id, body: 'x' }]);
      const tries = await Promise.all([open().deleteEndpoint(endpoint.id), open().deleteEndpoint(endpoint.id)]);
      expect(tries.toSorted()).toEqual([false, true]);
      expect(await open().findEndpoint(endpoint.uid)).toBeUndefined();
      expect(await open().listRequests({ endpointId: endpoint.id, which: 'any', limit: 10, bodyBytes: 10 })).toEqual(
        [],
      );
      expect(await open().findRequest(endpoint.id, { index: 0 })).toBeUndefined();
      expect(await capture(open(), [{ to: endpoint.id }])).toEqual([{ index: -1, savedId: 0 }]);
      expect(await open().deleteEndpoint(NOWHERE)).toBe(false);
    });
  });
}
