import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { DAY, T0, someEndpoint, someUser } from '../../../test/store-world.ts';

/** Each notice of expiry is mailed once. */
export function noticesSuite(open: () => AppStore): void {
  const claim = async (from: number, until: number) =>
    (await open().claimExpiryNotices(from, until, 100)).map(({ uid, expiresAt }) => ({ uid, expiresAt }));

  describe('notices of expiry', () => {
    // Far from the times of all other tests of this file.
    const START = T0 + 1000 * DAY;

    test('are claimed once per expiry, after the first moment and up to the last', async () => {
      const user = await someUser(open(), { email: 'Notice@example.com' });
      const at = (expiresAt: number) => someEndpoint(open(), { expiresAt, userId: user.id, name: 'N' });
      const [gone, first, last, later] = [
        await at(START),
        await at(START + 1),
        await at(START + DAY),
        await at(START + DAY + 1),
      ];
      const notices = await open().claimExpiryNotices(START, START + DAY, 100);
      expect(notices.map(({ endpointId }) => endpointId)).toEqual([first.id, last.id]);
      expect(notices[0]).toMatchObject({
        uid: first.uid,
        name: 'N',
        expiresAt: START + 1,
        user: { email: 'Notice@example.com' },
      });
      expect(await claim(START, START + DAY)).toEqual([]);
      expect(await claim(START, START + DAY + 1)).toEqual([{ uid: later.uid, expiresAt: START + DAY + 1 }]);
      await open().changeEndpoint(first.id, { favorite: { on: true, limit: 1, endpointLimit: 99, now: START } });
      await open().changeEndpoint(first.id, {
        favorite: { on: false, expiresAt: START + 9 },
      });
      expect(await claim(START, START + DAY)).toEqual([{ uid: first.uid, expiresAt: START + 9 }]);
      expect(gone.uid).not.toBe(first.uid);
    });

    test('come again after a release, unless the expiry has changed', async () => {
      const from = START + 10 * DAY;
      const [kept, renewed] = [
        await someEndpoint(open(), { expiresAt: from + 1 }),
        await someEndpoint(open(), { expiresAt: from + 2 }),
      ];
      const notices = await open().claimExpiryNotices(from, from + 2, 100);
      expect(notices).toHaveLength(2);
      await open().changeEndpoint(renewed.id, { favorite: { on: true, limit: 1, endpointLimit: 99, now: from } });
      await open().releaseExpiryNotices(notices);
      expect(await claim(from, from + DAY)).toEqual([{ uid: kept.uid, expiresAt: from + 1 }]);
    });

    test('each is claimed by one of five workers, a few at a time', async () => {
      const from = START + 20 * DAY;
      const user = await someUser(open());
      for (let nth = 0; nth < 20; nth++) await someEndpoint(open(), { expiresAt: from + 20 - nth, userId: user.id });
      const first = await open().claimExpiryNotices(from, from + DAY, 3);
      expect(first.map(({ expiresAt }) => expiresAt - from).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
      const rounds = await Promise.all(
        Array.from({ length: 5 }, () => open().claimExpiryNotices(from, from + DAY, 100)),
      );
      expect(
        rounds
          .flat()
          .map(({ expiresAt }) => expiresAt - from)
          .toSorted((a, b) => a - b),
      ).toEqual(Array.from({ length: 17 }, (_, nth) => nth + 4));
    });
  });
}
