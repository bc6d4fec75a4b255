import type { BillingInterval, User } from '@creel/contract';

const DAY_MS = 86_400_000;
const YEARLY_FROM_DAYS = 60;

type Subscriber = Pick<User, 'billingInterval' | 'stripeSubscriptionId' | 'subscriptionEndDate' | 'subscriptionStatus'>;

/** The interval shown: the stored one; else yearly by the subscription's id or by an end more than 60 days away; else monthly (spec 4). */
export function shownInterval(user: Subscriber, now: number): BillingInterval {
  if (user.billingInterval !== null) return user.billingInterval;
  if (user.stripeSubscriptionId?.includes('yearly') === true) return 'yearly';
  const end = Date.parse(user.subscriptionEndDate ?? '');
  return end - now > YEARLY_FROM_DAYS * DAY_MS ? 'yearly' : 'monthly';
}

/** True while a paid plan runs out: status 'canceled', or an end date still to come (spec 4). */
export function isCanceling(user: Subscriber, now: number): boolean {
  return user.subscriptionStatus === 'canceled' || Date.parse(user.subscriptionEndDate ?? '') > now;
}
