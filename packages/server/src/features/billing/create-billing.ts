import type { AppContext } from '../../app-context.ts';
import type { StripeEnvironment } from '../../config.ts';
import { PLAN_PRICES } from './rules.ts';
import type { PlanPrice } from './rules.ts';
import { Billing } from './service.ts';
import { StripeGateway } from './stripe-gateway.ts';
import type { StripeConfig } from './stripe-gateway.ts';
import { TestGateway } from './test-gateway.ts';

type Parts = Pick<AppContext, 'config' | 'store' | 'live' | 'forgetEndpoint' | 'publicUrl' | 'log' | 'now'>;

/** Creates billing for the configuration; `undefined` when it is off. */
export function createBilling(parts: Parts): Billing | undefined {
  const { billing, stripe } = parts.config;
  if (billing === 'test') return new Billing({ ...parts, gateway: new TestGateway(parts) });
  if (billing === 'off' || stripe === undefined) return undefined;
  return new Billing({ ...parts, gateway: new StripeGateway({ ...parts, config: toStripeConfig(stripe) }) });
}

function toStripeConfig({ secretKey, webhookSecret, apiBase, prices }: StripeEnvironment): StripeConfig {
  const priceOf = ({ tier, interval }: PlanPrice): string => prices[tier][interval];
  const planOf = (priceId: string): PlanPrice | undefined => PLAN_PRICES.find((plan) => priceOf(plan) === priceId);
  return { secretKey, webhookSecret, apiBase, priceOf, planOf };
}
