import { afterEach, expect, test, vi } from 'vitest';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { stripeBilling } from '../../../test/stripe-billing.ts';
import { someUser } from '../../../test/store-world.ts';

afterEach(() => void vi.useRealTimers());

test('users have an answer within 30 s while Stripe is silent', async () => {
  const store = await openMemoryStore();
  const user = { ...(await someUser(store)), stripeCustomerId: 'cus_1', stripeSubscriptionId: 'sub_1' };
  const billing = stripeBilling(store, () => new Promise(() => undefined), Date.now);
  const answers: string[] = [];
  const note = (what: string) => () => void answers.push(what);

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const calls = [
    billing.openPortal(user, '/').catch(note('portal')),
    billing.preview(user, 'PREMIUM', 'monthly').then(note('preview')),
  ];
  await vi.advanceTimersByTimeAsync(30_000);
  expect(answers.toSorted()).toEqual(['portal', 'preview']);
  await Promise.all(calls);
  await store.close();
});
