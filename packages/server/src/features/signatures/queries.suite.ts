import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { someEndpoint } from '../../../test/store-world.ts';

/** Queries of signing secrets, on every database. */
export function signaturesSuite(open: () => AppStore): void {
  describe('signing secrets', () => {
    test('are set, replaced and deleted together with the scheme of the endpoint', async () => {
      const { id, uid, signingScheme } = await someEndpoint(open());
      const scheme = async () => (await open().findEndpoint(uid))?.signingScheme;
      expect([signingScheme, await open().findSigningSecret(id)]).toEqual([null, undefined]);
      expect(await open().setSigningSecret(id, 'github', 'first')).toBe(true);
      expect([await scheme(), await open().findSigningSecret(id)]).toEqual(['github', 'first']);
      expect((await open().findAnySigningSecret())?.sealed).toBeDefined();
      expect(await open().setSigningSecret(id, 'slack', 'second')).toBe(true);
      expect([await scheme(), await open().findSigningSecret(id)]).toEqual(['slack', 'second']);
      await open().deleteSigningSecret(id);
      await open().deleteSigningSecret(id);
      expect([await scheme(), await open().findSigningSecret(id)]).toEqual([null, undefined]);
    });

    test('are not set for an endpoint that does not exist, and go with a deleted one', async () => {
      const { id } = await someEndpoint(open());
      await open().setSigningSecret(id, 'github', 'sealed');
      await open().deleteEndpoint(id);
      expect(await open().findSigningSecret(id)).toBeUndefined();
      expect(await open().setSigningSecret(id, 'github', 'sealed')).toBe(false);
      expect(await open().findSigningSecret(id)).toBeUndefined();
    });
  });
}
