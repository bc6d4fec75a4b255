import { z } from 'zod';
import { billingIntervalSchema, tierSchema } from '../plan.ts';
import { userSchema } from '../user.ts';
import type { Operation } from './operation.ts';

const returnUrlSchema = z.string().max(2000);

/** Plans and money (spec 4 and 7, contract 7). */
export const billingOperations = {
  createCheckout: {
    method: 'POST',
    path: '/api/subscription/checkout',
    summary: 'Starts the checkout of a plan; the browser goes to the url of the answer',
    access: 'user',
    body: z.object({ tier: tierSchema, interval: billingIntervalSchema, returnUrl: returnUrlSchema }),
    status: 200,
    answer: z.object({ url: z.string() }),
    problems: ['BILLING_OFF'],
  },
  createPortal: {
    method: 'POST',
    path: '/api/subscription/portal',
    summary: 'Opens the billing portal; the browser goes to the url of the answer',
    access: 'user',
    body: z.object({ returnUrl: returnUrlSchema }),
    status: 200,
    answer: z.object({ url: z.string(), fallback: z.boolean().optional(), message: z.string().optional() }),
    problems: ['BILLING_OFF'],
  },
  changeSubscription: {
    method: 'POST',
    path: '/api/subscription/change',
    summary: 'Changes plan or interval of a running subscription',
    access: 'user',
    body: z.object({ tier: tierSchema, interval: billingIntervalSchema }),
    status: 200,
    answer: userSchema,
    problems: ['BILLING_OFF'],
  },
  receiveBillingEvent: {
    method: 'POST',
    path: '/api/subscription/webhook',
    summary: "Takes the payment provider's signed events",
    access: 'public',
    status: 200,
    answer: z.object({ received: z.literal(true) }),
    problems: ['BILLING_OFF'],
  },
} as const satisfies Record<string, Operation>;
