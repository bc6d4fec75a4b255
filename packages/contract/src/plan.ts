import { z } from 'zod';

/** The code of a plan on the wire and in the database. Its name is in `PLANS`. */
export const tierSchema = z.enum(['FREE', 'BASIC', 'PREMIUM']);
export type Tier = z.infer<typeof tierSchema>;

/** How often a subscription is paid. */
export const billingIntervalSchema = z.enum(['monthly', 'yearly']);
export type BillingInterval = z.infer<typeof billingIntervalSchema>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Limits and prices of a plan. Prices are in whole US dollars. Endpoints expire `expiryMs` after their creation, or after
 * the change to this plan.
 */
export interface Plan {
  readonly tier: Tier;
  readonly name: string;
  readonly label: string;
  readonly endpoints: number;
  readonly expiryMs: number;
  readonly favorites: number;
  readonly price: { readonly monthly: number; readonly yearly: number };
  /** Error at the maximum number of endpoints. */
  readonly endpointLimitSentence: string;
  /** Error at the maximum number of favorites. */
  readonly favoriteLimitSentence: string;
  readonly emailNotifications: boolean;
  readonly prioritySupport: boolean;
}

/** The plans. Prices, limits, texts and checks are all derived from this table. */
export const PLANS: Readonly<Record<Tier, Plan>> = {
  FREE: {
    tier: 'FREE',
    name: 'Free',
    label: 'Free Plan',
    endpoints: 1,
    expiryMs: DAY_MS,
    favorites: 0,
    price: { monthly: 0, yearly: 0 },
    endpointLimitSentence: 'Free users can only create one endpoint. Please upgrade for more.',
    favoriteLimitSentence: 'Upgrade plan for favorites',
    emailNotifications: false,
    prioritySupport: false,
  },
  BASIC: {
    tier: 'BASIC',
    name: 'Basic',
    label: 'Basic Plan',
    endpoints: 5,
    expiryMs: 7 * DAY_MS,
    favorites: 1,
    price: { monthly: 5, yearly: 50 },
    endpointLimitSentence: 'Basic users can only create five endpoints. Please upgrade for more.',
    favoriteLimitSentence: 'Your plan allows 1 favorite. Remove one first or upgrade.',
    emailNotifications: true,
    prioritySupport: false,
  },
  PREMIUM: {
    tier: 'PREMIUM',
    name: 'Premium',
    label: 'Premium Plan',
    endpoints: 20,
    expiryMs: 14 * DAY_MS,
    favorites: 5,
    price: { monthly: 10, yearly: 100 },
    endpointLimitSentence: 'Premium users can only create twenty endpoints.',
    favoriteLimitSentence: 'Your plan allows 5 favorites. Remove one first.',
    emailNotifications: true,
    prioritySupport: true,
  },
};

/** Returns the rounded percentage that a yearly payment saves. 0 for a free plan. */
export function yearlySavingPercent(plan: Plan): number {
  const twelveMonths = 12 * plan.price.monthly;
  return twelveMonths === 0 ? 0 : Math.round(((twelveMonths - plan.price.yearly) / twelveMonths) * 100);
}
