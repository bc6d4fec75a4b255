import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { T0, someEndpoint, unique } from '../../../test/store-world.ts';

/** Queries for live connections, on both engines. */
export function liveSuite(store: AppStore): void {
  describe('watched sessions and endpoints', () => {
    test('are those that exist', async () => {
      const endpoint = await someEndpoint(store);
      const id = unique('session');
      const session = { id, userId: endpoint.userId, createdAt: T0, lastSeenAt: T0, expiresAt: T0 + 1 };
      await store.createSession(unique('token'), { ...session, userAgent: '', ip: '' }, 'hash');
      const gone = await someEndpoint(store);
      await store.deleteEndpoint(gone.id);
      const watched = (now: number) => store.readWatched([id, 'unknown'], [endpoint.id, gone.id], now);
      expect(await watched(T0)).toEqual({ openSessions: [id], endpoints: [endpoint] });
      expect((await watched(T0 + 1)).openSessions).toEqual([]);
    });

    test('none are asked for', async () => {
      expect(await store.readWatched([], [], T0)).toEqual({ openSessions: [], endpoints: [] });
    });
  });
}
