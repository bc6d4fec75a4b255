import type { BillingInterval } from '@creel/contract';
import { z } from 'zod';
import { planPriceSchema } from './rules.ts';

/**
 * Simulates Stripe's subscriptions with pure functions on the state of one customer: checkout, renewal, failed payments
 * and both kinds of cancellation. Times are whole seconds, like Stripe's.
 */
const simulatedCheckoutSchema = planPriceSchema.extend({
  id: z.string(),
  status: z.enum(['open', 'complete', 'expired']),
  email: z.string(),
  successUrl: z.string(),
  cancelUrl: z.string(),
  expiresAt: z.int(),
});
type SimulatedCheckout = z.infer<typeof simulatedCheckoutSchema>;

const simulatedSubscriptionSchema = planPriceSchema.extend({
  id: z.string(),
  status: z.enum(['active', 'past_due', 'canceled']),
  created: z.int(),
  periodEnd: z.int(),
  cancelAtPeriodEnd: z.boolean(),
  cancelAt: z.int().nullable(),
});
export type SimulatedSubscription = z.infer<typeof simulatedSubscriptionSchema>;

/** The whole state of a customer of the test gateway, stored as JSON. */
export const simulatedCustomerSchema = z.object({
  id: z.string(),
  /** Seconds by which the customer's test clock is ahead of the real one. */
  clockAhead: z.int(),
  cardFails: z.boolean(),
  /** Number of objects that were created for this customer. The next id is made from it. */
  made: z.int(),
  checkouts: z.array(simulatedCheckoutSchema),
  subscriptions: z.array(simulatedSubscriptionSchema),
});
export type SimulatedCustomer = z.infer<typeof simulatedCustomerSchema>;

export function newSimulatedCustomer(id: string): SimulatedCustomer {
  return { id, clockAhead: 0, cardFails: false, made: 0, checkouts: [], subscriptions: [] };
}

type NewCheckout = Omit<SimulatedCheckout, 'id' | 'status'>;

/** Each call reads and writes all checkouts of a customer. Older ones than these are no longer found. */
const MAX_CHECKOUTS = 20;

/** Adds an open checkout, the last of the list. Its id is unique, because `made` only grows. */
export function openCheckout(customer: SimulatedCustomer, checkout: NewCheckout): SimulatedCustomer {
  const made = customer.made + 1;
  const opened: SimulatedCheckout = { ...checkout, id: `cs_test_${customer.id}_${made}`, status: 'open' };
  return { ...customer, made, checkouts: [...customer.checkouts, opened].slice(-MAX_CHECKOUTS) };
}

/** Pays an open checkout, which creates the subscription. */
export function payCheckout(customer: SimulatedCustomer, checkoutId: string, now: number): SimulatedCustomer {
  const checkout = customer.checkouts.find(({ id, status }) => id === checkoutId && status === 'open');
  if (checkout === undefined) return customer;
  const made = customer.made + 1;
  const subscription: SimulatedSubscription = {
    id: `sub_test_${customer.id}_${made}`,
    tier: checkout.tier,
    interval: checkout.interval,
    status: 'active',
    created: now,
    periodEnd: afterPeriod(now, checkout.interval),
    cancelAtPeriodEnd: false,
    cancelAt: null,
  };
  return {
    ...customer,
    made,
    cardFails: false,
    checkouts: customer.checkouts.map((each) => (each === checkout ? { ...each, status: 'complete' } : each)),
    subscriptions: [...customer.subscriptions, subscription],
  };
}

/** Closes a checkout, if it is open. */
export function expireCheckout(customer: SimulatedCustomer, checkoutId: string): SimulatedCustomer {
  const checkouts = customer.checkouts.map((each): SimulatedCheckout =>
    each.id === checkoutId && each.status === 'open' ? { ...each, status: 'expired' } : each,
  );
  return { ...customer, checkouts };
}

export type SubscriptionChange = Partial<
  Pick<SimulatedSubscription, 'tier' | 'interval' | 'status' | 'cancelAtPeriodEnd' | 'cancelAt'>
>;

/** Changes fields of a subscription that has not ended. A new interval starts a new period at once. */
export function changeSubscription(
  customer: SimulatedCustomer,
  subscriptionId: string,
  change: SubscriptionChange,
  now: number,
): SimulatedCustomer {
  const subscriptions = customer.subscriptions.map((before) => {
    if (before.id !== subscriptionId || before.status === 'canceled') return before;
    const after = { ...before, ...change };
    return after.interval === before.interval ? after : { ...after, periodEnd: afterPeriod(now, after.interval) };
  });
  return { ...customer, subscriptions };
}

/** Applies everything that is due at `now`: periods that renew or end, checkouts that expire. */
export function letTimePass(customer: SimulatedCustomer, now: number): SimulatedCustomer {
  const checkouts = customer.checkouts.map((checkout): SimulatedCheckout =>
    checkout.status === 'open' && checkout.expiresAt <= now ? { ...checkout, status: 'expired' } : checkout,
  );
  const subscriptions = customer.subscriptions.map((each) => afterPeriods(each, now, customer.cardFails));
  return { ...customer, checkouts, subscriptions };
}

function afterPeriods(subscription: SimulatedSubscription, now: number, cardFails: boolean): SimulatedSubscription {
  const { status, periodEnd, interval } = subscription;
  if (status === 'canceled') return subscription;
  const endsAt = endOf(subscription);
  const isUnpaidTwice = status === 'past_due' && cardFails && periodEnd <= now;
  if ((endsAt !== null && endsAt <= now) || isUnpaidTwice) return { ...subscription, status: 'canceled' };
  if (periodEnd > now) return subscription;
  const next = {
    ...subscription,
    status: cardFails ? 'past_due' : 'active',
    periodEnd: afterPeriod(periodEnd, interval),
  } as const;
  return afterPeriods(next, now, cardFails);
}

/** When a canceled subscription ends; null while it renews. */
export function endOf({ cancelAtPeriodEnd, periodEnd, cancelAt }: SimulatedSubscription): number | null {
  return cancelAtPeriodEnd ? periodEnd : cancelAt;
}

/** The same day of the next month or year, or the last day of a shorter month. */
function afterPeriod(seconds: number, interval: BillingInterval): number {
  const from = new Date(seconds * 1000);
  const months = interval === 'yearly' ? 12 : 1;
  const to = new Date(from);
  to.setUTCDate(1);
  to.setUTCMonth(from.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), lastDay));
  return Math.floor(to.getTime() / 1000);
}
