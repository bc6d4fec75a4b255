import type { Stripe } from 'stripe';
import { z } from 'zod';
import type { StripeConfig } from '../../config.ts';
import type { GatewayEvent } from './gateway.ts';
import { GatewayError } from './gateway.ts';
import { PLAN_PRICES } from './rules.ts';
import type { PlanPrice, SubscriptionFields, SubscriptionState } from './rules.ts';

const TOLERANCE_SECONDS = 300;
/** Tolerance for clock differences. */
const FUTURE_SECONDS = 5;

/** PostgreSQL can't store a NUL, and can't index a long text. */
const identifier = z.string().regex(/^[!-~]{1,255}$/);
/** Seconds since 1970, up to the last time of a `Date`. */
const seconds = z.int().min(0).max(8.64e12);

/** The used fields of an event. The rest is read from the API, because events arrive late and out of order. */
const eventSchema = z.object({
  id: identifier,
  type: identifier,
  /** Stripe always sends it. Other hosts that speak its interface (`STRIPE_API_BASE`) may not. */
  livemode: z.boolean().optional(),
  account: z.string().nullish(),
  data: z.object({
    object: z.object({
      object: z.string().optional(),
      id: identifier.optional(),
      customer: z.union([identifier, z.object({ id: identifier })]).nullish(),
    }),
  }),
});

/** A delivery of Stripe's webhook. */
interface SignedEvent {
  readonly body: Buffer;
  readonly signature: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Checks and reads an event; see `BillingGateway.readEvent`. */
export function readStripeEvent(
  webhooks: Stripe['webhooks'],
  { body, signature, now }: SignedEvent,
  { webhookSecret, secretKey }: StripeConfig,
): GatewayEvent | 'foreign' | undefined {
  if (signature === undefined || !isFromPast(signature, now)) return undefined;
  let signed: unknown;
  try {
    signed = webhooks.constructEvent(body, signature, webhookSecret, TOLERANCE_SECONDS, undefined, now);
  } catch {
    return undefined;
  }
  const event = eventSchema.safeParse(signed).data;
  // The signature is valid, but this version does not know the format.
  if (event === undefined) return 'foreign';
  if ((event.account ?? null) !== null || !isOfMode(event.livemode, secretKey)) return 'foreign';
  const { object, id, customer } = event.data.object;
  const named = typeof customer === 'string' ? customer : customer?.id;
  return { id: event.id, type: event.type, customerId: named ?? (object === 'customer' ? id : undefined) ?? null };
}

/** The library rejects old signatures, but not those from the future or without a time. It uses the last of several. */
function isFromPast(signature: string, now: number): boolean {
  const time = signature.split(',').findLast((part) => part.trim().startsWith('t='));
  return Number.parseInt(time?.trim().slice(2) ?? '', 10) <= Math.floor(now / 1000) + FUTURE_SECONDS;
}

/** A key or an event without a mode is of any. */
function isOfMode(livemode: boolean | undefined, secretKey: string): boolean {
  const [, mode] = /^[a-z]+_(test|live)_/.exec(secretKey) ?? [];
  return mode === undefined || livemode === undefined || livemode === (mode === 'live');
}

/**
 * The fields of a subscription that are used. Hosts of `STRIPE_API_BASE` may speak an older version of the API. Until
 * 2025, the subscription itself had the end of the period, and not its items.
 */
const subscriptionSchema = z
  .object({
    id: identifier,
    status: identifier,
    created: seconds.default(0),
    cancel_at: seconds.nullable().default(null),
    cancel_at_period_end: z.boolean().default(false),
    current_period_end: seconds.optional(),
    items: z.object({
      data: z.array(
        z.object({ id: identifier, price: z.object({ id: z.string() }), current_period_end: seconds.optional() }),
      ),
    }),
  })
  .transform(({ current_period_end: older, items, ...rest }, context) => {
    const data = items.data.flatMap(({ current_period_end: end = older, ...item }) =>
      end === undefined ? [] : { ...item, current_period_end: end },
    );
    if (data.length < items.data.length)
      context.addIssue({ code: 'custom', path: ['items'], message: 'current_period_end is missing' });
    return { ...rest, items: { data } };
  });

type GatewaySubscription = z.output<typeof subscriptionSchema>;

const page = z.url({ protocol: /^https?$/ });

/** The used fields of the answers to calls. */
export const ANSWERS = {
  created: z.object({ id: identifier }),
  newCheckout: z.object({ id: identifier, url: page }),
  checkout: z.object({ status: z.string().nullable() }),
  subscriptions: z.object({ data: z.array(z.unknown()) }),
  customer: z.object({ deleted: z.boolean().default(false) }),
  invoice: z.object({ amount_due: z.int(), currency: z.string() }),
  portal: z.object({ url: page }),
};

/** Reads an answer. @throws GatewayError for another format */
export function readAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (!read.success) throw new GatewayError('unavailable', read.error);
  return read.data;
}

/** Reads a subscription. @throws GatewayError for another format */
export function readSubscription(subscription: unknown): GatewaySubscription {
  return readAnswer(subscriptionSchema, subscription);
}

const SECOND_MS = 1000;

/**
 * Reads a subscription; `undefined` when none of its prices is one of ours. The user's own subscription keeps the
 * stored plan then: Stripe still charges a price that is no longer configured.
 */
export function stateOf(
  subscription: GatewaySubscription,
  priceOf: (plan: PlanPrice) => string,
  stored: SubscriptionFields,
): SubscriptionState | undefined {
  const items = subscription.items.data.map((item) => ({
    item,
    plan: PLAN_PRICES.find((price) => priceOf(price) === item.price.id),
  }));
  const { item, plan = storedPlan(stored, subscription.id) } = items.find((each) => each.plan) ?? items[0] ?? {};
  if (item === undefined || plan === undefined) return undefined;
  const periodEndAt = item.current_period_end * SECOND_MS;
  const cancelAt = subscription.cancel_at === null ? periodEndAt : subscription.cancel_at * SECOND_MS;
  const byDate = subscription.cancel_at === null ? null : 'date';
  const canceledBy = subscription.cancel_at_period_end ? 'flag' : byDate;
  return {
    ...plan,
    id: subscription.id,
    itemId: item.id,
    status: subscription.status,
    createdAt: subscription.created * SECOND_MS,
    periodEndAt,
    endsAt: canceledBy === null ? null : cancelAt,
    canceledBy,
  };
}

/** The plan of the user's own subscription; `undefined` for any other. */
function storedPlan(stored: SubscriptionFields, subscriptionId: string): PlanPrice | undefined {
  const { subscriptionTier: tier, billingInterval: interval } = stored;
  if (tier === 'FREE' || interval === null || stored.stripeSubscriptionId !== subscriptionId) return undefined;
  return { tier, interval };
}
