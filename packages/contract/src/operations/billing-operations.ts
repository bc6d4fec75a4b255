import { z } from 'zod';
import { billingIntervalSchema, tierSchema } from '../plan.ts';
import { userSchema } from '../user.ts';
import type { Operation } from './operation.ts';

/** An amount of money in the smallest unit of its currency: cents of a dollar. Negative for a credit. */
const moneySchema = z.object({ cents: z.int(), currency: z.string() });
export type Money = z.infer<typeof moneySchema>;

/** What a change of plan does to the user's endpoints and what it costs. Computed by the same rule that makes the change. */
const planChangePreviewSchema = z.object({
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
const testCheckoutSchema = z.object({
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

const testCheckoutActionSchema = z.enum(['pay', 'decline', 'expire'], 'action must be pay, decline or expire');
export type TestCheckoutAction = z.infer<typeof testCheckoutActionSchema>;

/** The subscription of a user as the test gateway knows it. Times follow the user's test clock, which `advance` moves. */
const testSubscriptionSchema = z.object({
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
const testPortalActionSchema = z.enum(
  ['cancel', 'renew', 'advance', 'fail-payment', 'recover-payment', 'end-now'],
  'action must be cancel, renew, advance, fail-payment, recover-payment or end-now',
);
export type TestPortalAction = z.infer<typeof testPortalActionSchema>;

/** A URL of this server, with the public origin or that of the call, or a path. Anything else is a 400. */
const returnUrlSchema = z.string('returnUrl must be text').max(2000, 'returnUrl must be at most 2000 characters');
const tierInput = z.enum(tierSchema.options, 'tier must be FREE, BASIC or PREMIUM');
const intervalInput = z.enum(billingIntervalSchema.options, 'interval must be monthly or yearly');

/** Plans, payment and export: docs/api.md, "Plans and billing". */
export const billingOperations = {
  createCheckout: {
    method: 'POST',
    path: '/api/subscription/checkout',
    summary: 'Start the checkout of a paid plan. The browser then opens the returned url',
    body: z.object({ tier: tierInput, interval: intervalInput, returnUrl: returnUrlSchema }),
    answer: z.object({ url: z.string() }),
    problems: ['BILLING_OFF', 'BILLING_FAILED', 'ALREADY_ON_FREE', 'NO_SUBSCRIPTION', 'ALREADY_SUBSCRIBED'],
  },
  createPortal: {
    method: 'POST',
    path: '/api/subscription/portal',
    summary: 'Open the billing portal. The browser then opens the returned url',
    body: z.object({ returnUrl: returnUrlSchema }),
    answer: z.object({ url: z.string(), fallback: z.boolean().optional(), message: z.string().optional() }),
    problems: ['BILLING_OFF', 'BILLING_FAILED', 'NO_SUBSCRIPTION', 'PORTAL_NOT_CONFIGURED'],
  },
  changeSubscription: {
    method: 'POST',
    path: '/api/subscription/change',
    summary: 'Change the plan or interval. FREE cancels the subscription at the period end, its own plan renews it',
    // Without it, the interval does not change.
    body: z.object({ tier: tierInput, interval: intervalInput.optional() }),
    answer: userSchema,
    problems: ['BILLING_OFF', 'BILLING_FAILED', 'ALREADY_ON_FREE', 'NO_SUBSCRIPTION', 'PAYMENT_FAILED'],
  },
  previewPlanChange: {
    method: 'GET',
    path: '/api/subscription/preview',
    summary: 'Preview what a change of plan deletes and costs',
    query: z.object({ tier: tierInput, interval: intervalInput.default('monthly') }),
    answer: planChangePreviewSchema,
    problems: ['BILLING_OFF'],
  },
  receiveBillingEvent: {
    method: 'POST',
    path: '/api/subscription/webhook',
    summary: 'Receive a signed event from the payment provider',
    access: 'public',
    answer: z.object({ received: z.literal(true) }),
    problems: ['BILLING_OFF', 'INVALID_SIGNATURE'],
  },
  exportRequests: {
    method: 'GET',
    path: '/api/export',
    summary: 'Download every stored request as JSON lines',
    query: z.object({
      /** Limits the export to this endpoint. May be repeated. */
      endpoint: z
        .union(
          [z.string().transform((uid) => [uid]), z.array(z.string()).max(100)],
          'endpoint must be the uid of an endpoint',
        )
        .optional(),
    }),
    answer: 'bytes',
    mediaType: 'application/x-ndjson',
    problems: ['ENDPOINT_NOT_FOUND'],
  },
  getTestCheckout: {
    method: 'GET',
    path: '/api/billing/test/checkout/{id}',
    summary: 'Return a checkout of the built-in test gateway (BILLING=test)',
    answer: testCheckoutSchema,
    problems: ['CHECKOUT_NOT_FOUND'],
  },
  decideTestCheckout: {
    method: 'POST',
    path: '/api/billing/test/checkout/{id}',
    summary: 'Pay, decline or expire a test checkout. It stays open after a declined card (402)',
    body: z.object({ action: testCheckoutActionSchema }),
    answer: z.object({ returnUrl: z.string() }),
    problems: ['CHECKOUT_NOT_FOUND', 'CHECKOUT_CLOSED', 'PAYMENT_FAILED'],
  },
  getTestSubscription: {
    method: 'GET',
    path: '/api/billing/test/portal',
    summary: 'Return the subscription in the built-in test gateway (BILLING=test)',
    answer: testSubscriptionSchema,
    problems: ['NO_SUBSCRIPTION'],
  },
  actOnTestSubscription: {
    method: 'POST',
    path: '/api/billing/test/portal',
    summary: 'Cancel or renew the subscription in the test gateway, or advance its clock',
    body: z.object({ action: testPortalActionSchema }),
    answer: testSubscriptionSchema,
    problems: ['NO_SUBSCRIPTION', 'ACTION_NOT_POSSIBLE'],
  },
} as const satisfies Record<string, Operation>;
