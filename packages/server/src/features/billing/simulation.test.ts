import { expect, test } from 'vitest';
import { letTimePass, newSimulatedCustomer, openCheckout, payCheckout } from './simulation.ts';

const seconds = (date: string): number => Date.parse(date) / 1000;

test('a subscription renews at the end of each of several periods', () => {
  const checkout = { tier: 'BASIC', interval: 'monthly', email: '', successUrl: '', cancelUrl: '' } as const;
  const opened = openCheckout(newSimulatedCustomer('cus_test_1'), { ...checkout, expiresAt: 0 });
  const paid = payCheckout(opened, opened.checkouts[0]?.id ?? '', seconds('2027-01-31'));
  const { subscriptions } = letTimePass(paid, seconds('2027-04-15'));
  expect(subscriptions).toMatchObject([{ status: 'active', periodEnd: seconds('2027-04-28') }]);
});
