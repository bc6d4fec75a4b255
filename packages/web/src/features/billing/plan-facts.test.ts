import { PLANS } from '@creel/contract';
import { expect, test } from 'vitest';
import { formatMoney, formatPrice, lifetime, monthlyShare, planFacts } from './plan-facts.ts';

test('lifetimes and prices of plans', () => {
  expect(lifetime(PLANS.FREE.expiryMs)).toBe('24 hours');
  expect(lifetime(PLANS.BASIC.expiryMs)).toBe('7 days');
  expect(formatPrice(PLANS.FREE, 'monthly')).toBe('$0');
  expect(formatPrice(PLANS.BASIC, 'monthly')).toBe('$5 per month');
  expect(formatPrice(PLANS.PREMIUM, 'yearly')).toBe('$100 per year');
  expect(monthlyShare(PLANS.BASIC)).toBe('$4.17');
});

test.each([
  [{ cents: 483, currency: 'usd' }, '$4.83'],
  [{ cents: 5000, currency: 'usd' }, '$50'],
  [{ cents: -250, currency: 'usd' }, '-$2.50'],
  [{ cents: 700, currency: 'jpy' }, '¥700'],
])('%o is written %s', (money, text) => {
  expect(formatMoney(money)).toBe(text);
});

test('email notifications are No on Free and Yes on the others', () => {
  const notifications = Object.values(PLANS).map(
    (plan) => planFacts(plan).find(({ name }) => name === 'Email notifications')?.value,
  );
  expect(notifications).toEqual(['No', 'Yes', 'Yes']);
});
