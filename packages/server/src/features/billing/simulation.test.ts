import { expect, test } from 'vitest';
import { letTimePass, newSimulatedCustomer, openCheckout, payCheckout } from './simulation.ts';

const seconds = (date: string): number => Date.parse(date) / 1000;
const checkout = {
  tier: 'BASIC',
  interval: 'monthly',
  email: '',
  successUrl: '',
  cancelUrl: '',
  expiresAt: 0,
} as const;

test('a subscription renews at the end of each of several periods', () => {
  const opened = openCheckout(newSimulatedCustomer('cus_test_1'), checkout);
  const paid = payCheckout(opened, opened.checkouts[0]?.id ?? '', seconds('2027-01-31'));
  const { subscriptions } = letTimePass(paid, seconds('2027-04-15'));
  expect(subscriptions).toMatchObject([{ status: 'active', periodEnd: seconds('2027-04-28') }]);
});

test('a customer keeps the newest checkouts only, each with its own id', () => {
  let customer = newSimulatedCustomer('cus_test_1');
  for (let nth = 0; nth < 100; nth++) customer = openCheckout(customer, checkout);
  const ids = customer.checkouts.map(({ id }) => id);
  expect(ids).toHaveLength(20);
  expect(new Set(ids).size).toBe(20);
  expect(ids.at(-1)).toBe('cs_test_cus_test_1_100');
});
