import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { someEndpoint } from '../../../test/store-world.ts';

/** Queries of signing secrets, on every database. */
export function signaturesSuite(store: AppStore): void {
  describe('signing secrets', () => {
    test('are set, replaced and deleted together with the scheme of the endpoint', async () => {
      const { id, uid, signingScheme } = await someEndpoint(store);
      const scheme = async () => (await store.findEndpoint(uid))?.signingScheme;
      expect([signingScheme, await store.findSigningSecret(id)]).toEqual([null, undefined]);
      expect(await store.setSigningSecret(id, 'github', 'first')).toBe(true);
      expect([await scheme(), await store.findSigningSecret(id)]).toEqual(['github', 'first']);
      expect((await store.findAnySigningSecret())?.sealed).toBeDefined();
      expect(await store.setSigningSecret(id, 'slack', 'second')).toBe(true);
      expect([await scheme(), await store.findSigningSecret(id)]).toEqual(['slack', 'second']);
      await store.deleteSigningSecret(id);
      await store.deleteSigningSecret(id);
      expect([await scheme(), await store.findSigningSecret(id)]).toEqual([null, undefined]);
    });

    test('are not set for an endpoint that does not exist, and go with a deleted one', async () => {
      const { id } = await someEndpoint(store);
      await store.setSigningSecret(id, 'github', 'sealed');
      await store.deleteEndpoint(id);
      expect(await store.findSigningSecret(id)).toBeUndefined();
      expect(await store.setSigningSecret(id, 'github', 'sealed')).toBe(false);
      expect(await store.findSigningSecret(id)).toBeUndefined();
    });
  });
}
