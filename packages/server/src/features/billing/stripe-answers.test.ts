import { afterAll, expect, test } from 'vitest';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { STORED, stripeBilling } from '../../../test/stripe-billing.ts';
import { GatewayError } from './gateway.ts';
import type { BillingGateway } from './gateway.ts';
import type { SubscriptionState } from './rules.ts';

/** Answers in another format, as of a proxy or a host that only resembles Stripe. */

const store = await openMemoryStore();
afterAll(() => store.close());

const PLAN = { tier: 'BASIC', interval: 'monthly' } as const;
const SUBSCRIPTION: SubscriptionState = {
  ...PLAN,
  id: 'sub_1',
  itemId: 'si_1',
  status: 'active',
  createdAt: 0,
  periodEndAt: 0,
  endsAt: null,
  canceledBy: null,
};
const CHECKOUT = { ...PLAN, id: 'key', userId: 1, email: 'a@b.example', customerId: 'cus_1', successUrl: '/' };

const CALLS: readonly [string, (gateway: BillingGateway) => Promise<unknown>][] = [
  ['createCustomer', (gateway) => gateway.createCustomer({ id: 1, email: 'a@b.example' }, 'key')],
  ['createCheckout', (gateway) => gateway.createCheckout({ ...CHECKOUT, cancelUrl: '/' })],
  ['isCheckoutOpen', (gateway) => gateway.isCheckoutOpen('cus_1', 'cs_1')],
  ['listSubscriptions', (gateway) => gateway.listSubscriptions('cus_1', STORED)],
  ['previewChange', (gateway) => gateway.previewChange('cus_1', SUBSCRIPTION, PLAN)],
  ['openPortal', (gateway) => gateway.openPortal('cus_1', '/')],
];

const gatewayOf = (json: string): BillingGateway =>
  stripeBilling(store, async () => new Response(json, { headers: { 'content-type': 'application/json' } }), Date.now)
    .gateway;

test.each(CALLS)('%s fails for an answer without the fields', async (_, call) => {
  for (const json of ['null', '"text"', '7', '[]', '{}', '{"id":null,"url":"javascript:0","status":1,"data":{}}', '<'])
    await expect(call(gatewayOf(json))).rejects.toThrow(GatewayError);
});

const listed = (change: object): string => {
  const item = { id: 'si_1', price: { id: 'price_basic_monthly' }, current_period_end: 1_800_000_000 };
  return JSON.stringify({ data: [{ id: 'sub_1', status: 'active', items: { data: [item] }, ...change }] });
};

test('a subscription with values that a database would change or reject is not read', async () => {
  const read = (change: object) => gatewayOf(listed(change)).listSubscriptions('cus_1', STORED);
  expect(await read({})).toHaveLength(1);
  for (const change of [
    { id: 'sub\0' },
    { id: 's'.repeat(3000) },
    { status: 'a\0b' },
    { cancel_at: 1.0005 },
    { cancel_at: 1e300 },
    { created: -1 },
  ])
    await expect(read(change)).rejects.toThrow(GatewayError);
});
