import { z } from 'zod';
import { billingIntervalSchema, tierSchema } from './plan.ts';

/** An amount of money in the smallest unit of its currency: cents of a dollar. Negative for a credit. */
export const moneySchema = z.object({ cents: z.int(), currency: z.string() });
export type Money = z.infer<typeof moneySchema>;

/** What a change of plan does to the user's endpoints and what it costs. Computed by the same rule that makes the change. */
export const planChangePreviewSchema = z.object({
  /** Endpoints that would be deleted with their requests, oldest first. */
  deletes: z.array(z.object({ uid: z.string(), name: z.string().nullable(), requestCount: z.int() })),
  /** When the change takes effect: `null` means immediately, otherwise the end of the paid period. */
  at: z.iso.datetime().nullable(),
  /** Endpoints that would stop being favorites. */
  losesFavorites: z.int(),
  /** The remaining endpoints expire this many milliseconds after the change. `null` if their expiry does not change. */
  expiresInMs: z.int().nullable(),
  /** The charge now, less the credit for unused time. `null` if nothing is charged or the gateway can't calculate it. */
  amount: moneySchema.nullable(),
});
export type PlanChangePreview = z.infer<typeof planChangePreviewSchema>;

/** A checkout of the built-in test gateway. */
export const testCheckoutSchema = z.object({
  id: z.string(),
  status: z.enum(['open', 'complete', 'expired']),
  tier: tierSchema,
  interval: billingIntervalSchema,
  price: moneySchema,
  email: z.string(),
  /** Where the browser goes when the user leaves without paying. */
  returnUrl: z.string(),
});
export type TestCheckout = z.infer<typeof testCheckoutSchema>;

export const testCheckoutActionSchema = z.enum(['pay', 'decline', 'expire'], {
  error: 'action must be pay, decline or expire',
});
export type TestCheckoutAction = z.infer<typeof testCheckoutActionSchema>;

/** The subscription of a user as the test gateway knows it. Times follow the user's test clock, which `advance` moves. */
export const testSubscriptionSchema = z.object({
  id: z.string(),
  tier: tierSchema,
  interval: billingIntervalSchema,
  price: moneySchema,
  /** Stripe's status: `active`, `past_due`, `unpaid`, `canceled`. */
  status: z.string(),
  currentPeriodEnd: z.iso.datetime(),
  /** When the subscription ends. `null` if it renews. */
  cancelAt: z.iso.datetime().nullable(),
  /** The time of the test clock. */
  now: z.iso.datetime(),
});
export type TestSubscription = z.infer<typeof testSubscriptionSchema>;

/**
 * `advance` moves the clock to the end of the period, which renews or ends the subscription. `fail-payment` does the same with a
 * declined card. `recover-payment` pays the open invoice. `end-now` cancels immediately.
 */
export const testPortalActionSchema = z.enum(
  ['cancel', 'renew', 'advance', 'fail-payment', 'recover-payment', 'end-now'],
  { error: 'action must be cancel, renew, advance, fail-payment, recover-payment or end-now' },
);
export type TestPortalAction = z.infer<typeof testPortalActionSchema>;
