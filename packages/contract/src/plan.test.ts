import { describe, expect, test } from 'vitest';
import { PLANS, tierSchema, yearlySavingPercent } from './plan.ts';

const DAY_MS = 86_400_000;

describe('the plans', () => {
  test.each([
    ['FREE', 'Free', 1, 1, 0, 0, 0],
    ['BASIC', 'Basic', 5, 7, 1, 5, 50],
    ['PREMIUM', 'Premium', 20, 14, 5, 10, 100],
  ] as const)('%s', (tier, name, endpoints, days, favorites, monthly, yearly) => {
    expect(PLANS[tier]).toMatchObject({
      tier,
      name,
      label: `${name} Plan`,
      endpoints,
      expiryMs: days * DAY_MS,
      favorites,
      price: { monthly, yearly },
    });
  });

  test('there are no other plans', () => {
    expect(Object.keys(PLANS)).toEqual(tierSchema.options);
  });
});

test.each([
  ['FREE', 'Free users can only create one endpoint. Please upgrade for more.', 'Upgrade plan for favorites'],
  [
    'BASIC',
    'Basic users can only create five endpoints. Please upgrade for more.',
    'Your plan allows 1 favorite. Remove one first or upgrade.',
  ],
  ['PREMIUM', 'Premium users can only create twenty endpoints.', 'Your plan allows 5 favorites. Remove one first.'],
] as const)('error messages at the limits of %s', (tier, endpoints, favorites) => {
  expect(PLANS[tier]).toMatchObject({ endpointLimitSentence: endpoints, favoriteLimitSentence: favorites });
});

test('paid plans have email notices, only Premium has priority support', () => {
  const of = (feature: 'emailNotifications' | 'prioritySupport') =>
    Object.values(PLANS)
      .filter((plan) => plan[feature])
      .map((plan) => plan.tier);
  expect(of('emailNotifications')).toEqual(['BASIC', 'PREMIUM']);
  expect(of('prioritySupport')).toEqual(['PREMIUM']);
});

test('a yearly payment saves 17 percent, rounded, and nothing on the free plan', () => {
  expect(Object.values(PLANS).map(yearlySavingPercent)).toEqual([0, 17, 17]);
  expect(yearlySavingPercent({ ...PLANS.BASIC, price: { monthly: 10, yearly: 115 } })).toBe(4);
  expect(yearlySavingPercent({ ...PLANS.BASIC, price: { monthly: 10, yearly: 120 } })).toBe(0);
});
