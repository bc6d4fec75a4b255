import { PLANS } from '@creel/contract';
import { expect, test } from 'vitest';
import { lifetime, planFacts, priceWords } from './plan-facts.ts';

test('plans are put in words', () => {
  expect(lifetime(PLANS.FREE.expiryMs)).toBe('24 hours');
  expect(lifetime(PLANS.BASIC.expiryMs)).toBe('7 days');
  expect(priceWords(PLANS.FREE, 'monthly')).toBe('$0');
  expect(priceWords(PLANS.BASIC, 'monthly')).toBe('$5 per month');
  expect(priceWords(PLANS.PREMIUM, 'yearly')).toBe('$100 per year');
});

test('email notifications are No on Free and Yes on the others', () => {
  const notifications = Object.values(PLANS).map(
    (plan) => planFacts(plan).find(({ name }) => name === 'Email notifications')?.value,
  );
  expect(notifications).toEqual(['No', 'Yes', 'Yes']);
});
