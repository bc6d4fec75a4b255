import { expect, test } from 'vitest';
import { isCanceling, shownInterval } from './subscription-words.ts';

const now = Date.parse('2026-11-21T12:00:00.000Z');
const inDays = (days: number): string => new Date(now + days * 86_400_000).toISOString();
const subscriber = {
  billingInterval: null,
  stripeSubscriptionId: null,
  subscriptionEndDate: null,
  subscriptionStatus: 'inactive',
};

test('the stored interval counts, then the id, then the end date, else monthly', () => {
  expect(shownInterval(subscriber, now)).toBe('monthly');
  expect(shownInterval({ ...subscriber, subscriptionEndDate: inDays(61) }, now)).toBe('yearly');
  expect(shownInterval({ ...subscriber, subscriptionEndDate: inDays(60) }, now)).toBe('monthly');
  expect(shownInterval({ ...subscriber, stripeSubscriptionId: 'sub_basic_yearly_1' }, now)).toBe('yearly');
  expect(shownInterval({ ...subscriber, billingInterval: 'monthly', stripeSubscriptionId: 'sub_yearly' }, now)).toBe(
    'monthly',
  );
});

test('a plan runs out when it was canceled or has an end to come', () => {
  expect(isCanceling(subscriber, now)).toBe(false);
  expect(isCanceling({ ...subscriber, subscriptionStatus: 'canceled' }, now)).toBe(true);
  expect(isCanceling({ ...subscriber, subscriptionEndDate: inDays(1) }, now)).toBe(true);
  expect(isCanceling({ ...subscriber, subscriptionEndDate: inDays(-1) }, now)).toBe(false);
});
