import { expect, test } from 'vitest';
import { hasPortal, isCanceling, planAction, shownInterval } from './subscription-state.ts';
import type { PlanAction, PlanChoice, Subscriber } from './subscription-state.ts';

const now = Date.parse('2026-11-21T12:00:00.000Z');
const inDays = (days: number): string => new Date(now + days * 86_400_000).toISOString();
const free: Subscriber = {
  billingInterval: null,
  stripeSubscriptionId: null,
  subscriptionEndDate: null,
  subscriptionStatus: 'inactive',
  subscriptionTier: 'FREE',
};
const basic: Subscriber = {
  billingInterval: 'monthly',
  stripeSubscriptionId: 'sub_1',
  subscriptionEndDate: null,
  subscriptionStatus: 'active',
  subscriptionTier: 'BASIC',
};
const premium: Subscriber = { ...basic, subscriptionTier: 'PREMIUM', billingInterval: 'yearly' };
const canceling: Subscriber = { ...basic, subscriptionStatus: 'canceled', subscriptionEndDate: inDays(9) };
const givenBasic: Subscriber = { ...free, subscriptionTier: 'BASIC' };

test('the stored interval counts, then the id, then the end date, else monthly', () => {
  expect(shownInterval(free, now)).toBe('monthly');
  expect(shownInterval({ ...free, subscriptionEndDate: inDays(61) }, now)).toBe('yearly');
  expect(shownInterval({ ...free, subscriptionEndDate: inDays(60) }, now)).toBe('monthly');
  expect(shownInterval({ ...free, stripeSubscriptionId: 'sub_basic_yearly_1' }, now)).toBe('yearly');
  expect(shownInterval({ ...free, billingInterval: 'monthly', stripeSubscriptionId: 'sub_yearly' }, now)).toBe(
    'monthly',
  );
});

test('a subscription is canceling when it was canceled or has an end to come', () => {
  expect(isCanceling(free, now)).toBe(false);
  expect(isCanceling({ ...free, subscriptionStatus: 'canceled' }, now)).toBe(true);
  expect(isCanceling({ ...free, subscriptionEndDate: inDays(1) }, now)).toBe(true);
  expect(isCanceling({ ...free, subscriptionEndDate: inDays(-1) }, now)).toBe(false);
});

test.each([
  ['active', true],
  ['canceled', true],
  ['inactive', false],
  ['past_due', false],
])('the billing portal with status %s: %s', (subscriptionStatus, shown) => {
  expect(hasPortal({ ...basic, subscriptionStatus })).toBe(shown);
});

test.each<[string, PlanChoice['tier'], PlanChoice['interval'], PlanAction, Subscriber]>([
  ['Free', 'FREE', 'monthly', 'already-free', free],
  ['Free', 'BASIC', 'monthly', 'checkout', free],
  ['Free', 'PREMIUM', 'yearly', 'checkout', free],
  ['Basic monthly', 'FREE', 'monthly', 'cancel', basic],
  ['Basic monthly', 'BASIC', 'monthly', 'current', basic],
  ['Basic monthly', 'BASIC', 'yearly', 'switch-interval', basic],
  ['Basic monthly', 'PREMIUM', 'monthly', 'upgrade', basic],
  ['Basic monthly', 'PREMIUM', 'yearly', 'upgrade', basic],
  ['Premium yearly', 'BASIC', 'yearly', 'downgrade', premium],
  ['Premium yearly', 'BASIC', 'monthly', 'downgrade', premium],
  ['Premium yearly', 'PREMIUM', 'monthly', 'switch-interval', premium],
  ['Premium yearly', 'FREE', 'yearly', 'cancel', premium],
  ['canceling Basic', 'BASIC', 'monthly', 'renew', canceling],
  ['canceling Basic', 'BASIC', 'yearly', 'switch-interval', canceling],
  ['canceling Basic', 'PREMIUM', 'monthly', 'upgrade', canceling],
  ['canceling Basic', 'FREE', 'monthly', 'unavailable', canceling],
  ['Basic past due', 'FREE', 'monthly', 'cancel', { ...basic, subscriptionStatus: 'past_due' }],
  ['Basic without a subscription', 'FREE', 'monthly', 'unavailable', givenBasic],
  ['Basic without a subscription', 'BASIC', 'yearly', 'current', givenBasic],
  ['Basic without a subscription', 'PREMIUM', 'monthly', 'checkout', givenBasic],
])('on %s the card %s %s offers %s', (_, tier, interval, action, user) => {
  expect(planAction(user, { tier, interval }, now)).toBe(action);
});
