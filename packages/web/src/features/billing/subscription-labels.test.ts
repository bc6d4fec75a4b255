import { PLANS } from '@creel/contract';
import type { PlanChangePreview } from '@creel/contract';
import { expect, test } from 'vitest';
import {
  formatMoney,
  formatPrice,
  lifetime,
  monthlyShare,
  planFacts,
  actionLabel,
  changedToast,
  confirmation,
  consequences,
  deletionHeading,
  exportAddress,
  subscriptionNotice,
} from './subscription-labels.ts';
import type { Subscriber } from './subscription-state.ts';

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

test('priority support is listed for Premium only', () => {
  const plans = Object.values(PLANS).filter((plan) => planFacts(plan).some(({ name }) => name === 'Priority support'));
  expect(plans.map(({ name }) => name)).toEqual(['Premium']);
});

const now = Date.parse('2026-11-21T12:00:00.000Z');
const end = '2026-12-22T12:00:00.000Z';
const harmless: PlanChangePreview = { deletes: [], at: null, losesFavorites: 0, expiresInMs: null, amount: null };
const endpoint = (uid: string) => ({ uid, name: null, requestCount: 3 });
const premium: Subscriber = {
  billingInterval: 'monthly',
  stripeSubscriptionId: 'sub_1',
  subscriptionEndDate: null,
  subscriptionStatus: 'active',
  subscriptionTier: 'PREMIUM',
};

test.each([
  ['checkout', 'BASIC', 'monthly', 'Upgrade to Basic'],
  ['upgrade', 'PREMIUM', 'monthly', 'Upgrade to Premium'],
  ['downgrade', 'BASIC', 'monthly', 'Downgrade to Basic'],
  ['switch-interval', 'BASIC', 'yearly', 'Switch to yearly billing'],
  ['cancel', 'FREE', 'monthly', 'Cancel subscription'],
  ['renew', 'BASIC', 'monthly', 'Renew Subscription'],
  ['current', 'BASIC', 'monthly', 'Current plan'],
  ['already-free', 'FREE', 'monthly', 'Current plan'],
  ['unavailable', 'FREE', 'monthly', undefined],
] as const)('the button for %s of %s %s reads %s', (action, tier, interval, label) => {
  expect(actionLabel(action, { tier, interval })).toBe(label);
});

test.each([
  [483, 'You will be charged $4.83 now. The price is $10 per month.'],
  [0, 'Nothing is charged now. The price is $10 per month.'],
  [-250, 'The price is $10 per month. $2.50 for unused time counts toward your next payments.'],
])('an upgrade for %i cents says so', (cents, description) => {
  const preview = { ...harmless, amount: { cents, currency: 'usd' } };
  const choice = { tier: 'PREMIUM', interval: 'monthly' } as const;
  expect(confirmation('upgrade', choice, { preview }, now)).toMatchObject({ description, destructive: false });
});

test('without an amount, only the price is shown', () => {
  const choice = { tier: 'PREMIUM', interval: 'yearly' } as const;
  expect(confirmation('upgrade', choice, {}, now).description).toBe('The price is $100 per year.');
  expect(confirmation('upgrade', choice, { preview: harmless }, now).description).toBe(
    'The price is $100 per year. Unused time of your present plan counts toward it.',
  );
});

test('a change takes a cancellation back, and says so', () => {
  const asked = confirmation('upgrade', { tier: 'PREMIUM', interval: 'monthly' }, { isRenewed: true }, now);
  expect(asked.description).toBe('The price is $10 per month. Your subscription is no longer canceled.');
});

test('a cancellation names the day, and its buttons cannot be confused', () => {
  const asked = confirmation(
    'cancel',
    { tier: 'FREE', interval: 'monthly' },
    { preview: { ...harmless, at: end } },
    now,
  );
  expect(asked.description).toContain('You keep your plan until Dec 22.');
  expect([asked.confirmLabel, asked.cancelLabel]).toEqual(['Cancel subscription', 'Keep subscription']);
});

test('what happens to endpoints depends on when the change happens', () => {
  const downgrade = { ...harmless, deletes: [endpoint('a')], losesFavorites: 3, expiresInMs: 7 * 86_400_000 };
  expect(deletionHeading(downgrade, now)).toBe('Deletes 1 endpoint and all its requests now:');
  expect(consequences(downgrade, now)).toEqual([
    '3 favorites will no longer be favorites.',
    'Each remaining endpoint expires 7 days from now.',
  ]);
  const cancellation = { ...downgrade, deletes: [endpoint('a'), endpoint('b')], losesFavorites: 1, at: end };
  expect(deletionHeading(cancellation, now)).toBe('Deletes 2 endpoints and all their requests on Dec 22:');
  expect(consequences({ ...cancellation, expiresInMs: 86_400_000 }, now)).toEqual([
    '1 favorite will no longer be a favorite.',
    'Each remaining endpoint expires 24 hours after Dec 22.',
  ]);
  expect(consequences(harmless, now)).toEqual([]);
});

test('the export names every endpoint', () => {
  expect(exportAddress(['a', 'b-_1'])).toBe('/api/export?endpoint=a&endpoint=b-_1');
});

test('a failed payment and a cancellation are reported', () => {
  expect(subscriptionNotice(premium, now)).toBeUndefined();
  expect(subscriptionNotice({ ...premium, subscriptionStatus: 'past_due' }, now)).toMatch(
    /^Your last payment failed\. You keep the Premium plan/,
  );
  expect(subscriptionNotice({ ...premium, subscriptionStatus: 'canceled', subscriptionEndDate: end }, now)).toMatch(
    /You keep the Premium plan until Dec 22/,
  );
});

test('the toast after a change names the plan and the day', () => {
  expect(changedToast('upgrade', premium, now).description).toBe('You are on the Premium plan now.');
  expect(changedToast('renew', premium, now).title).toBe('Subscription renewed');
  expect(changedToast('cancel', { ...premium, subscriptionEndDate: end }, now)).toEqual({
    title: 'Subscription canceled',
    description: 'You keep the Premium plan until Dec 22.',
  });
});
