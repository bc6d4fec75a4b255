import { z } from 'zod';
import {
  planChangePreviewSchema,
  testCheckoutActionSchema,
  testCheckoutSchema,
  testPortalActionSchema,
  testSubscriptionSchema,
} from '../billing.ts';
import { billingIntervalSchema, tierSchema } from '../plan.ts';
import { userSchema } from '../user.ts';
import type { Operation } from './operation.ts';

/** Must have the origin of the public URL, or be a path of it: anything else is a 400. */
const returnUrlSchema = z
  .string({ error: 'returnUrl must be text' })
  .max(2000, { error: 'returnUrl must be at most 2000 characters' });
const tierInput = z.enum(tierSchema.options, { error: 'tier must be FREE, BASIC or PREMIUM' });
const intervalInput = z.enum(billingIntervalSchema.options, { error: 'interval must be monthly or yearly' });

/** Plans and payment. */
export const billingOperations = {
  createCheckout: {
    method: 'POST',
    path: '/api/subscription/checkout',
    summary: 'Starts the checkout of a paid plan; the browser goes to the url of the answer',
    access: 'user',
    body: z.object({ tier: tierInput, interval: intervalInput, returnUrl: returnUrlSchema }),
    status: 200,
    answer: z.object({ url: z.string() }),
    problems: ['BILLING_OFF', 'BILLING_FAILED', 'ALREADY_ON_FREE', 'ALREADY_SUBSCRIBED'],
  },
  createPortal: {
    method: 'POST',
    path: '/api/subscription/portal',
    summary: 'Opens the billing portal; the browser goes to the url of the answer',
    access: 'user',
    body: z.object({ returnUrl: returnUrlSchema }),
    status: 200,
    answer: z.object({ url: z.string(), fallback: z.boolean().optional(), message: z.string().optional() }),
    problems: ['BILLING_OFF', 'BILLING_FAILED', 'NO_SUBSCRIPTION', 'PORTAL_NOT_CONFIGURED'],
  },
  changeSubscription: {
    method: 'POST',
    path: '/api/subscription/change',
    summary:
      'Changes the plan or interval of a subscription; FREE cancels it at the period end, its own plan renews it',
    access: 'user',
    body: z.object({ tier: tierInput, interval: intervalInput }),
    status: 200,
    answer: userSchema,
    problems: ['BILLING_OFF', 'BILLING_FAILED', 'ALREADY_ON_FREE', 'NO_SUBSCRIPTION', 'PAYMENT_FAILED'],
  },
  previewPlanChange: {
    method: 'GET',
    path: '/api/subscription/preview',
    summary: 'What a change of plan would delete and charge',
    access: 'user',
    query: z.object({ tier: tierInput, interval: intervalInput.default('monthly') }),
    status: 200,
    answer: planChangePreviewSchema,
    problems: ['BILLING_OFF'],
  },
  receiveBillingEvent: {
    method: 'POST',
    path: '/api/subscription/webhook',
    summary: "Takes the payment provider's signed events",
    access: 'public',
    status: 200,
    answer: z.object({ received: z.literal(true) }),
    problems: ['BILLING_OFF', 'INVALID_SIGNATURE'],
  },
  exportRequests: {
    method: 'GET',
    path: '/api/export',
    summary: 'Every stored request as JSON lines (application/x-ndjson), as a download',
    access: 'user',
    query: z.object({
      /** Limits the export to these endpoints; may be repeated. */
      endpoint: z
        .union([z.string().transform((uid) => [uid]), z.array(z.string()).max(100)], {
          error: 'endpoint must be the uid of an endpoint',
        })
        .optional(),
    }),
    status: 200,
    answer: 'bytes',
    problems: ['ENDPOINT_NOT_FOUND'],
  },
  getTestCheckout: {
    method: 'GET',
    path: '/api/billing/test/checkout/{id}',
    summary: 'The checkout of the built-in test gateway (BILLING=test)',
    access: 'user',
    status: 200,
    answer: testCheckoutSchema,
    problems: ['CHECKOUT_NOT_FOUND'],
  },
  decideTestCheckout: {
    method: 'POST',
    path: '/api/billing/test/checkout/{id}',
    summary: 'Pays, declines or expires a test checkout; after a declined card (402) it is still open',
    access: 'user',
    body: z.object({ action: testCheckoutActionSchema }),
    status: 200,
    answer: z.object({ returnUrl: z.string() }),
    problems: ['CHECKOUT_NOT_FOUND', 'CHECKOUT_CLOSED', 'PAYMENT_FAILED'],
  },
  getTestSubscription: {
    method: 'GET',
    path: '/api/billing/test/portal',
    summary: 'The subscription as the built-in test gateway knows it (BILLING=test)',
    access: 'user',
    status: 200,
    answer: testSubscriptionSchema,
    problems: ['NO_SUBSCRIPTION'],
  },
  actOnTestSubscription: {
    method: 'POST',
    path: '/api/billing/test/portal',
    summary: 'Cancels, renews, or lets time pass for the subscription of the test gateway',
    access: 'user',
    body: z.object({ action: testPortalActionSchema }),
    status: 200,
    answer: testSubscriptionSchema,
    problems: ['NO_SUBSCRIPTION', 'ACTION_NOT_POSSIBLE'],
  },
} as const satisfies Record<string, Operation>;
