import { billingIntervalSchema } from '@creel/contract';
import type { BillingInterval } from '@creel/contract';
import { z } from 'zod';
import type { GatewaySubscription, PlanPrice } from './rules.ts';

/**
 * Simulates Stripe's subscriptions with pure functions on the state of one customer: checkout, renewal, failed payments
 * and both kinds of cancellation. Times are whole seconds, like Stripe's.
 */
const paidPlanSchema = z.object({ tier: z.enum(['BASIC', 'PREMIUM']), interval: billingIntervalSchema });

const simulatedCheckoutSchema = paidPlanSchema.extend({
  id: z.string(),
  status: z.enum(['open', 'complete', 'expired']),
  email: z.string(),
  successUrl: z.string(),
  cancelUrl: z.string(),
  expiresAt: z.int(),
});
type SimulatedCheckout = z.infer<typeof simulatedCheckoutSchema>;

const simulatedSubscriptionSchema = paidPlanSchema.extend({
  id: z.string(),
  status: z.enum(['active', 'past_due', 'canceled']),
  created: z.int(),
  periodEnd: z.int(),
  cancelAtPeriodEnd: z.boolean(),
  cancelAt: z.int().nullable(),
});
export type SimulatedSubscription = z.infer<typeof simulatedSubscriptionSchema>;

export const simulatedCustomerSchema = z.object({
  id: z.string(),
  /** Seconds by which the customer's test clock is ahead of the real one. */
  clockAhead: z.int(),
  /** True if the card is declined. */
  cardFails: z.boolean(),
  made: z.int(),
  checkouts: z.array(simulatedCheckoutSchema),
  subscriptions: z.array(simulatedSubscriptionSchema),
});
export type SimulatedCustomer = z.infer<typeof simulatedCustomerSchema>;

/** A change for which Stripe would send an event. */
interface SimulatedEvent {
  readonly type: string;
  readonly objectId: string;
}

export interface Simulated {
  readonly customer: SimulatedCustomer;
  readonly events: readonly SimulatedEvent[];
}

export function newSimulatedCustomer(id: string): SimulatedCustomer {
  return { id, clockAhead: 0, cardFails: false, made: 0, checkouts: [], subscriptions: [] };
}

type NewCheckout = Omit<SimulatedCheckout, 'id' | 'status'>;

/** Opens a checkout and appends it to the customer's checkouts. */
export function openCheckout(customer: SimulatedCustomer, checkout: NewCheckout): SimulatedCustomer {
  const made = customer.made + 1;
  const opened: SimulatedCheckout = { ...checkout, id: `cs_test_${customer.id}_${made}`, status: 'open' };
  return { ...customer, made, checkouts: [...customer.checkouts, opened] };
}

/** Pays an open checkout, which creates the subscription. */
export function payCheckout(customer: SimulatedCustomer, checkoutId: string, now: number): Simulated {
  const checkout = customer.checkouts.find(({ id, status }) => id === checkoutId && status === 'open');
  if (checkout === undefined) return { customer, events: [] };
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
    customer: {
      ...customer,
      made,
      cardFails: false,
      checkouts: customer.checkouts.map((each) => (each === checkout ? { ...each, status: 'complete' } : each)),
      subscriptions: [...customer.subscriptions, subscription],
    },
    events: [
      { type: 'customer.subscription.created', objectId: subscription.id },
      { type: 'invoice.paid', objectId: subscription.id },
      { type: 'checkout.session.completed', objectId: checkout.id },
    ],
  };
}

export function expireCheckout(customer: SimulatedCustomer, checkoutId: string): Simulated {
  const checkout = customer.checkouts.find(({ id, status }) => id === checkoutId && status === 'open');
  if (checkout === undefined) return { customer, events: [] };
  return {
    customer: {
      ...customer,
      checkouts: customer.checkouts.map((each) => (each === checkout ? { ...each, status: 'expired' } : each)),
    },
    events: [{ type: 'checkout.session.expired', objectId: checkout.id }],
  };
}

/** Changes fields of a subscription that has not ended. A new interval starts a new period at once. */
export function changeSubscription(
  customer: SimulatedCustomer,
  subscriptionId: string,
  change: Partial<Pick<SimulatedSubscription, 'tier' | 'interval' | 'cancelAtPeriodEnd' | 'cancelAt'>>,
  now: number,
): Simulated {
  return replaceSubscription(customer, subscriptionId, 'customer.subscription.updated', (before) => {
    const after = { ...before, ...change };
    return after.interval === before.interval ? after : { ...after, periodEnd: afterPeriod(now, after.interval) };
  });
}

export function endSubscription(customer: SimulatedCustomer, subscriptionId: string): Simulated {
  return replaceSubscription(customer, subscriptionId, 'customer.subscription.deleted', (before) => ({
    ...before,
    status: 'canceled',
  }));
}

/** Pays the open invoice. */
export function recoverPayment(customer: SimulatedCustomer, subscriptionId: string): Simulated {
  const { customer: recovered, events } = replaceSubscription(
    customer,
    subscriptionId,
    'customer.subscription.updated',
    (before) => ({ ...before, status: 'active' }),
  );
  return {
    customer: { ...recovered, cardFails: false },
    events: [{ type: 'invoice.paid', objectId: subscriptionId }, ...events],
  };
}

function replaceSubscription(
  customer: SimulatedCustomer,
  subscriptionId: string,
  type: string,
  change: (before: SimulatedSubscription) => SimulatedSubscription,
): Simulated {
  const before = customer.subscriptions.find(({ id, status }) => id === subscriptionId && status !== 'canceled');
  if (before === undefined) return { customer, events: [] };
  const after = change(before);
  return {
    customer: {
      ...customer,
      subscriptions: customer.subscriptions.map((each) => (each === before ? after : each)),
    },
    events: [{ type, objectId: subscriptionId }],
  };
}

/** Applies everything that is due at `now`: periods that renew or end, checkouts that expire. */
export function letTimePass(customer: SimulatedCustomer, now: number): Simulated {
  const events: SimulatedEvent[] = [];
  const checkouts = customer.checkouts.map((checkout): SimulatedCheckout => {
    if (checkout.status !== 'open' || checkout.expiresAt > now) return checkout;
    events.push({ type: 'checkout.session.expired', objectId: checkout.id });
    return { ...checkout, status: 'expired' };
  });
  const subscriptions = customer.subscriptions.map((before) => {
    let subscription = before;
    for (let next = afterBoundary(subscription, now, customer.cardFails); next !== undefined;) {
      events.push(...next.events);
      subscription = next.subscription;
      next = afterBoundary(subscription, now, customer.cardFails);
    }
    return subscription;
  });
  if (events.length === 0) return { customer, events };
  return { customer: { ...customer, checkouts, subscriptions }, events };
}

/** The next change of a subscription up to `now`; `undefined` when there is none. */
function afterBoundary(
  subscription: SimulatedSubscription,
  now: number,
  cardFails: boolean,
): { readonly subscription: SimulatedSubscription; readonly events: readonly SimulatedEvent[] } | undefined {
  const { id, status, periodEnd, interval } = subscription;
  if (status === 'canceled') return undefined;
  const endsAt = endOf(subscription);
  const isUnpaidTwice = status === 'past_due' && cardFails && periodEnd <= now;
  if ((endsAt !== null && endsAt <= now) || isUnpaidTwice)
    return {
      subscription: { ...subscription, status: 'canceled' },
      events: [{ type: 'customer.subscription.deleted', objectId: id }],
    };
  if (periodEnd > now) return undefined;
  return {
    subscription: {
      ...subscription,
      status: cardFails ? 'past_due' : 'active',
      periodEnd: afterPeriod(periodEnd, interval),
    },
    events: [
      { type: cardFails ? 'invoice.payment_failed' : 'invoice.paid', objectId: id },
      { type: 'customer.subscription.updated', objectId: id },
    ],
  };
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

/** A subscription in the format of Stripe's API. */
export function presentSubscription(
  subscription: SimulatedSubscription,
  priceOf: (plan: PlanPrice) => string,
): GatewaySubscription {
  const { id, status, created, periodEnd } = subscription;
  return {
    id,
    status,
    created,
    // With the flag set, Stripe returns the end of the period here too.
    cancel_at: endOf(subscription),
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    items: { data: [{ id: `si_${id}`, price: { id: priceOf(subscription) }, current_period_end: periodEnd }] },
  };
}
