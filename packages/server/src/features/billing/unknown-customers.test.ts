import { afterAll, expect, test } from 'vitest';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { STORED, stripeBilling } from '../../../test/stripe-billing.ts';
import type { BillingGateway } from './gateway.ts';

const TEST_MODE = '; a similar object exists in test mode, but a live mode key was used to make this request.';
const LIVE_MODE = '; a similar object exists in live mode, but a test mode key was used to make this request.';

const store = await openMemoryStore();
afterAll(() => store.close());

/** A Stripe that knows no customer. */
function gatewayOf(reason: string): BillingGateway {
  const answer: typeof fetch = async (input) => {
    const id = /cus_\w+/.exec(new Request(input).url)?.[0];
    const error = { type: 'invalid_request_error', code: 'resource_missing', param: 'customer' };
    return Response.json({ error: { ...error, message: `No such customer: '${id}'${reason}` } }, { status: 404 });
  };
  return stripeBilling(store, answer, Date.now).gateway;
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
