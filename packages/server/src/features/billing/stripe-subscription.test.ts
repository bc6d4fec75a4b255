import { expect, test } from 'vitest';
import { GatewayError } from './gateway.ts';
import { readSubscription } from './stripe-formats.ts';

const SUBSCRIPTION = { id: 'sub_1', status: 'active', created: 1, cancel_at: 5, cancel_at_period_end: true };
const ITEM = { id: 'si_1', price: { id: 'price_1' } };

test('the end of the period is in the items', () => {
  const read = { ...SUBSCRIPTION, items: { data: [{ ...ITEM, current_period_end: 5 }] } };
  expect(readSubscription({ ...read, object: 'subscription' })).toEqual(read);
});

test('a host with an older version has it in the subscription, and may omit fields that are not set', () => {
  expect(readSubscription({ id: 'sub_1', status: 'active', current_period_end: 5, items: { data: [ITEM] } })).toEqual({
    id: 'sub_1',
    status: 'active',
    created: 0,
    cancel_at: null,
    cancel_at_period_end: false,
    items: { data: [{ ...ITEM, current_period_end: 5 }] },
  });
});

test.each([
  ['without it', { ...SUBSCRIPTION, items: { data: [ITEM] } }],
  ['in another format', { ...SUBSCRIPTION, items: null }],
])('a subscription %s is not read, so that no plan changes', (_, subscription) => {
  expect(() => readSubscription(subscription)).toThrow(GatewayError);
});
