import { Stripe } from 'stripe';
import { afterEach, expect, test, vi } from 'vitest';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { STRIPE_CONFIG } from '../../../test/stripe-server.ts';
import { someUser } from '../../../test/store-world.ts';
import { createLog } from '../../log.ts';
import { Billing } from './service.ts';
import { StripeGateway } from './stripe-gateway.ts';

afterEach(() => void vi.useRealTimers());

test('users have an answer within 30 s while Stripe is silent', async () => {
  const store = await openMemoryStore();
  const user = { ...(await someUser(store)), stripeCustomerId: 'cus_1', stripeSubscriptionId: 'sub_1' };
  const log = createLog('silent', false, { write: () => undefined });
  const httpClient = Stripe.createFetchHttpClient(() => new Promise(() => undefined));
  const gateway = new StripeGateway({ config: STRIPE_CONFIG, store, log, now: Date.now, httpClient });
  const live = { publish: () => undefined };
  const billing = new Billing({ store, gateway, live, publicUrl: () => 'https://creel.example', log, now: Date.now });
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
