import type { Plan } from '@creel/contract';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** '24 hours', '7 days': how long an endpoint lives. */
export function lifetime(expiryMs: number): string {
  return expiryMs <= DAY_MS ? `${expiryMs / HOUR_MS} hours` : `${expiryMs / DAY_MS} days`;
}

/** '$5 per month', '$0'. */
export function priceWords(plan: Plan, interval: 'monthly' | 'yearly'): string {
  const price = plan.price[interval];
  return price === 0 ? '$0' : `$${price} per ${interval === 'monthly' ? 'month' : 'year'}`;
}

/** What a plan allows, as rows of a table. The summary shows email notifications as 'No' on Free (spec 2). */
export function planFacts(plan: Plan): readonly { readonly name: string; readonly value: string }[] {
  return [
    { name: 'Endpoints', value: String(plan.endpoints) },
    { name: 'Endpoint lifetime', value: lifetime(plan.expiryMs) },
    { name: 'Favorites that never expire', value: String(plan.favorites) },
    { name: 'Email notifications', value: plan.emailNotifications ? 'Yes' : 'No' },
    { name: 'Priority support', value: plan.prioritySupport ? 'Yes' : 'No' },
  ];
}
