import { createLog } from '../src/log.ts';
import { Billing } from '../src/features/billing/service.ts';
import type { SubscriptionFields } from '../src/features/billing/rules.ts';
import type { BillingOptions } from '../src/features/billing/service.ts';
import { StripeGateway } from '../src/features/billing/stripe-gateway.ts';
import { STRIPE_CONFIG } from './stripe-server.ts';

/** What a user with a subscription has stored. */
export const STORED: SubscriptionFields = {
  subscriptionTier: 'BASIC',
  subscriptionStatus: 'active',
  subscriptionEndAt: null,
  billingInterval: 'monthly',
  stripeSubscriptionId: 'sub_1',
};

/** Billing without a server, through the real library. `answer` is the fetch of its calls to Stripe. */
export function stripeBilling(
  store: BillingOptions['store'],
  answer: (...call: Parameters<typeof fetch>) => Promise<Response>,
  now: () => number,
): Billing {
  const log = createLog('silent', false, { write: () => undefined });
  const gateway = new StripeGateway({ config: STRIPE_CONFIG, store, log, now, fetch: answer });
  const live = { publish: () => undefined };
  return new Billing({ store, gateway, live, publicUrl: () => 'https://creel.example', log, now });
}
