import { describe, expect, test } from 'vitest';
import { someSubscription } from '../../../test/store-world.ts';
import { chooseSubscription, fieldsFor, isChargedNow } from './rules.ts';
import type { SubscriptionFields, SubscriptionState } from './rules.ts';

const state = (fields: Partial<SubscriptionState> = {}): SubscriptionState =>
  someSubscription({ id: 'sub_own', createdAt: 2, ...fields });

describe('the effective subscription', () => {
  test.each([
    ['active', true, true],
    ['trialing', true, true],
    ['past_due', true, true],
    ['incomplete', true, false],
    ['paused', true, false],
    ['a new status', true, false],
    ['canceled', false, false],
    ['unpaid', false, false],
    ['incomplete_expired', false, false],
  ])("with status %s: the user's own %s, another one %s", (status, isOwnKept, isOtherTaken) => {
    const own = state({ status });
    expect(chooseSubscription([own], 'sub_own')).toEqual({ current: isOwnKept ? own : undefined, extra: [] });
    expect(chooseSubscription([own], null)).toEqual({ current: isOtherTaken ? own : undefined, extra: [] });
  });

  test('is the own one while it is paid, else the oldest paid one; all other paid ones are canceled', () => {
    const own = state();
    const [older, newer] = [state({ id: 'sub_older', createdAt: 1 }), state({ id: 'sub_newer', createdAt: 3 })];
    expect(chooseSubscription([newer, own, older], 'sub_own')).toEqual({ current: own, extra: [older, newer] });
    expect(chooseSubscription([newer, own, older], null)).toEqual({ current: older, extra: [own, newer] });
    const undecided = state({ status: 'incomplete' });
    expect(chooseSubscription([undecided, newer], 'sub_own')).toEqual({ current: newer, extra: [] });
  });
});

describe('the plan', () => {
  const before: SubscriptionFields = {
    subscriptionTier: 'PREMIUM',
    subscriptionStatus: 'active',
    subscriptionEndAt: 5,
    billingInterval: 'yearly',
    stripeSubscriptionId: 'sub_own',
  };

  test('stays as it is while the subscription is neither paid nor ended', () => {
    expect(fieldsFor(state({ status: 'paused' }), before)).toEqual({ ...before, subscriptionStatus: 'paused' });
  });

  test('is that of a subscription whose payment is repeated', () => {
    expect(fieldsFor(state({ status: 'past_due' }), before)).toMatchObject({
      subscriptionTier: 'BASIC',
      subscriptionStatus: 'past_due',
    });
  });

  test('is Free without a subscription, unless the server gave it without one', () => {
    expect(fieldsFor(undefined, before)).toMatchObject({ subscriptionTier: 'FREE', stripeSubscriptionId: null });
    const given = { ...before, stripeSubscriptionId: null };
    expect(fieldsFor(undefined, given)).toEqual(given);
  });
});

test.each([
  ['BASIC', 'monthly', 'PREMIUM', 'monthly', true],
  ['BASIC', 'monthly', 'BASIC', 'yearly', true],
  ['BASIC', 'yearly', 'BASIC', 'monthly', false],
  ['PREMIUM', 'monthly', 'BASIC', 'monthly', false],
] as const)('from %s %s to %s %s is charged at once: %s', (from, before, to, after, isCharged) => {
  expect(isChargedNow({ tier: from, interval: before }, { tier: to, interval: after })).toBe(isCharged);
});
