import { PLANS, billingIntervalSchema, tierSchema } from '@creel/contract';
import type { Tier } from '@creel/contract';
import { z } from 'zod';
import type { EndpointRecord, UserRecord } from '../../database/records.ts';

/** A paid plan with the interval of its payments. Each has its own price in Stripe. */
export const planPriceSchema = z.object({ tier: tierSchema.exclude(['FREE']), interval: billingIntervalSchema });
export type PlanPrice = Readonly<z.infer<typeof planPriceSchema>>;

/** Every paid plan with every interval. */
export const PLAN_PRICES: readonly PlanPrice[] = planPriceSchema.shape.tier.options.flatMap((tier) =>
  billingIntervalSchema.options.map((interval) => ({ tier, interval })),
);

/** A subscription to one of our plans. Times are milliseconds since 1970. */
export interface SubscriptionState extends PlanPrice {
  readonly id: string;
  readonly itemId: string;
  /** Stripe's status. */
  readonly status: string;
  readonly createdAt: number;
  readonly periodEndAt: number;
  /** When a canceled subscription ends; null while it renews. */
  readonly endsAt: number | null;
  /** How it was canceled: by the API's flag, or by a date, as the portal does under flexible billing. */
  readonly canceledBy: 'flag' | 'date' | null;
}

/** The fields of a user that follow from the subscription. */
export type SubscriptionFields = Pick<
  UserRecord,
  'subscriptionTier' | 'subscriptionStatus' | 'subscriptionEndAt' | 'billingInterval' | 'stripeSubscriptionId'
>;

/**
 * What a status means for the plan. `past_due` keeps it while Stripe retries the payment. `incomplete`, `paused` and
 * unknown statuses neither grant nor revoke a plan.
 */
function paymentStateOf(status: string): 'paid' | 'ended' | 'undecided' {
  if (status === 'active' || status === 'trialing' || status === 'past_due') return 'paid';
  if (status === 'canceled' || status === 'unpaid' || status === 'incomplete_expired') return 'ended';
  return 'undecided';
}

/** It may still be paid. */
export function isUndecided({ status }: SubscriptionState): boolean {
  return paymentStateOf(status) === 'undecided';
}

/**
 * Picks the effective subscription: the user's current one while it is paid, otherwise the oldest paid one. Other paid
 * ones were bought in a second tab and must be canceled.
 */
export function chooseSubscription(states: readonly SubscriptionState[], currentId: string | null) {
  const paid = states
    .filter(({ status }) => paymentStateOf(status) === 'paid')
    .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const undecided = states.find((state) => state.id === currentId && isUndecided(state));
  const current = paid.find(({ id }) => id === currentId) ?? paid[0] ?? undecided;
  return { current, extra: paid.filter((state) => state !== current) };
}

/** The user's fields for the effective subscription. Without one, a former subscriber is back on Free. */
export function fieldsFor(current: SubscriptionState | undefined, before: SubscriptionFields): SubscriptionFields {
  if (current === undefined) return before.stripeSubscriptionId === null ? before : FREE_FIELDS;
  if (isUndecided(current)) return { ...before, subscriptionStatus: current.status };
  return {
    subscriptionTier: current.tier,
    subscriptionStatus: current.status,
    subscriptionEndAt: current.endsAt,
    billingInterval: current.interval,
    stripeSubscriptionId: current.id,
  };
}

const FREE_FIELDS: SubscriptionFields = {
  subscriptionTier: 'FREE',
  subscriptionStatus: 'inactive',
  subscriptionEndAt: null,
  billingInterval: null,
  stripeSubscriptionId: null,
};

/** The order of the plans, for upgrades and downgrades. */
const RANKS: Readonly<Record<Tier, number>> = { FREE: 0, BASIC: 1, PREMIUM: 2 };

export function isDowngrade(from: Tier, to: Tier): boolean {
  return RANKS[to] < RANKS[from];
}

/** The fields of an endpoint that the downgrade rule reads. Times are milliseconds since 1970. */
export type EndpointOfPlan = Pick<EndpointRecord, 'id' | 'createdAt' | 'expiresAt' | 'isFavorite'>;

/**
 * The effect of a lower plan on endpoints. The oldest ones over the limit are deleted. The others are no longer
 * favorites, and expire after the plan's time. Expired endpoints don't count and keep their retention.
 */
export function downgradeEffect<E extends EndpointOfPlan>(to: Tier, endpoints: readonly E[], now: number) {
  const newestFirst = endpoints
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id);
  const { endpoints: limit, expiryMs } = PLANS[to];
  return {
    /** Oldest first. */
    deletes: newestFirst.slice(limit).toReversed(),
    keeps: newestFirst.slice(0, limit),
    losesFavorites: newestFirst.filter(({ isFavorite }) => isFavorite).length,
    /** Milliseconds until the remaining endpoints expire. */
    expiresInMs: expiryMs,
  };
}

const noticeKindSchema = z.enum(['plan-changed', 'cancellation-taken', 'period-ended', 'payment-failed']);

/** A notice about a subscription, with the plan before and after. `endAt` in milliseconds since 1970. */
export const noticeSchema = z.object({
  kind: noticeKindSchema,
  from: tierSchema,
  to: tierSchema,
  interval: billingIntervalSchema.nullable(),
  endAt: z.int().nullable(),
});
export type SubscriptionNotice = z.infer<typeof noticeSchema>;

/** The notice for a change of the fields, if any. */
export function noticeOf(before: SubscriptionFields, after: SubscriptionFields): SubscriptionNotice | undefined {
  const kind = noticeKindOf(before, after);
  if (kind === undefined) return undefined;
  const { subscriptionTier: to, billingInterval: interval, subscriptionEndAt: endAt } = after;
  return { kind, from: before.subscriptionTier, to, interval, endAt };
}

function noticeKindOf(before: SubscriptionFields, after: SubscriptionFields) {
  if (after.stripeSubscriptionId === null) return before.stripeSubscriptionId === null ? undefined : 'period-ended';
  if (after.subscriptionStatus === 'past_due' && before.subscriptionStatus !== 'past_due') return 'payment-failed';
  if (after.subscriptionEndAt !== null && before.subscriptionEndAt === null) return 'cancellation-taken';
  const isSamePlan =
    before.subscriptionTier === after.subscriptionTier && before.billingInterval === after.billingInterval;
  return isSamePlan ? undefined : 'plan-changed';
}

/** True when a plan change is charged at once: a higher plan, or yearly instead of monthly. */
export function isChargedNow(from: PlanPrice, to: PlanPrice): boolean {
  return RANKS[to.tier] > RANKS[from.tier] || (from.interval === 'monthly' && to.interval === 'yearly');
}

/** List price in cents of a US dollar. */
export function centsOf({ tier, interval }: PlanPrice): number {
  return PLANS[tier].price[interval] * 100;
}
