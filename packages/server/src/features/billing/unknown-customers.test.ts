import { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { createLog } from '../../log.ts';
import { STRIPE_CONFIG } from '../../../test/stripe-server.ts';
import type { SubscriptionFields } from './rules.ts';
import { StripeGateway } from './stripe-gateway.ts';

const TEST_MODE = '; a similar object exists in test mode, but a live mode key was used to make this request.';
const LIVE_MODE = '; a similar object exists in live mode, but a test mode key was used to make this request.';
const STORED: SubscriptionFields = {
  subscriptionTier: 'BASIC',
  subscriptionStatus: 'active',
  subscriptionEndAt: null,
  billingInterval: 'monthly',
  stripeSubscriptionId: 'sub_1',
};

/** A Stripe that knows no customer. */
function gatewayOf(reason: string): StripeGateway {
  const httpClient = Stripe.createFetchHttpClient(async (input) => {
    const id = /cus_\w+/.exec(new Request(input).url)?.[0];
    const error = { type: 'invalid_request_error', code: 'resource_missing', param: 'customer' };
    return Response.json({ error: { ...error, message: `No such customer: '${id}'${reason}` } }, { status: 404 });
  });
  const store = {
    findBillingSetting: () => Promise.reject(new Error()),
    keepBillingSetting: () => Promise.reject(new Error()),
  };
  const log = createLog('silent', false, { write: () => undefined });
  return new StripeGateway({ config: STRIPE_CONFIG, store, log, now: Date.now, httpClient });
}

test.each([
  ['of the test gateway', 'cus_test_5e1f', ''],
  ["of Stripe's test mode, with a live key", 'cus_1', TEST_MODE],
])('a customer %s has no subscription, because nobody pays for one', async (_, customerId, reason) => {
  expect(await gatewayOf(reason).listSubscriptions(customerId, STORED)).toEqual([]);
});

test.each([
  ['of another account', ''],
  ["of Stripe's live mode, with a test key", LIVE_MODE],
])('a customer %s may pay for a subscription, so that reading it fails', async (_, reason) => {
  await expect(gatewayOf(reason).listSubscriptions('cus_1', STORED)).rejects.toThrow('No such customer');
});
