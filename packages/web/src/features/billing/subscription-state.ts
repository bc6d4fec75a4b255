import { tierSchema } from '@creel/contract';
import type { BillingInterval, Tier, User } from '@creel/contract';

const DAY_MS = 86_400_000;
const YEARLY_FROM_DAYS = 60;

/** What of a user decides about plans and buttons. */
export type Subscriber = Pick<
  User,
  'billingInterval' | 'stripeSubscriptionId' | 'subscriptionEndDate' | 'subscriptionStatus' | 'subscriptionTier'
>;

/** A plan card with the interval that the toggle shows. */
export interface PlanChoice {
  readonly tier: Tier;
  readonly interval: BillingInterval;
}

/**
 * The interval to show: the stored one, else a guess. It is yearly by the subscription's id, or if the end is more than
 * 60 days away. `now` in milliseconds.
 */
export function shownInterval(user: Subscriber, now: number): BillingInterval {
  if (user.billingInterval !== null) return user.billingInterval;
  if (user.stripeSubscriptionId?.includes('yearly') === true) return 'yearly';
  const end = Date.parse(user.subscriptionEndDate ?? '');
  return end - now > YEARLY_FROM_DAYS * DAY_MS ? 'yearly' : 'monthly';
}

/** True while a paid plan runs until its end: status 'canceled', or an end date in the future. */
export function isCanceling(user: Subscriber, now: number): boolean {
  return user.subscriptionStatus === 'canceled' || Date.parse(user.subscriptionEndDate ?? '') > now;
}

/** True while the payment provider retries a renewal that failed. */
export const isPastDue = (user: Subscriber): boolean => user.subscriptionStatus === 'past_due';

/** True for a plan from the server's settings: there is no subscription to change or to cancel. */
export const isGiven = (user: Subscriber): boolean =>
  user.subscriptionTier !== 'FREE' && user.stripeSubscriptionId === null;

/** True where the billing portal has something to manage. */
export const hasPortal = (user: Subscriber): boolean =>
  user.subscriptionStatus === 'active' || user.subscriptionStatus === 'canceled';

/**
 * What the button of a plan card does. `current` and `unavailable` have no effect: the first marks the present plan,
 * the second a plan that can't be chosen from it.
 */
export type PlanAction =
  | 'current'
  | 'already-free'
  | 'unavailable'
  | 'checkout'
  | 'renew'
  | 'upgrade'
  | 'downgrade'
  | 'switch-interval'
  | 'cancel';

/** The action of one card for one user. `now` in milliseconds. */
export function planAction(user: Subscriber, choice: PlanChoice, now: number): PlanAction {
  if (choice.tier === 'FREE') return freeAction(user, now);
  const step = rank(choice.tier) - rank(user.subscriptionTier);
  if (user.stripeSubscriptionId === null) return withoutSubscription(step);
  if (step > 0) return 'upgrade';
  if (step < 0) return 'downgrade';
  if (choice.interval !== shownInterval(user, now)) return 'switch-interval';
  return isCanceling(user, now) ? 'renew' : 'current';
}

/** Position of a tier, cheapest first. */
const rank = (tier: Tier): number => tierSchema.options.indexOf(tier);

function freeAction(user: Subscriber, now: number): PlanAction {
  if (user.subscriptionTier === 'FREE') return 'already-free';
  return user.stripeSubscriptionId === null || isCanceling(user, now) ? 'unavailable' : 'cancel';
}

/** A plan above Free without a subscription is the server's default plan, which has no payment to reduce. */
function withoutSubscription(step: number): PlanAction {
  if (step === 0) return 'current';
  return step > 0 ? 'checkout' : 'unavailable';
}
