import type { BillingInterval, Money, Plan } from '@creel/contract';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS_PER_YEAR = 12;

/** '24 hours', '7 days': how long an endpoint lives. */
export function lifetime(expiryMs: number): string {
  return expiryMs <= DAY_MS ? `${expiryMs / HOUR_MS} hours` : `${expiryMs / DAY_MS} days`;
}

/** '$5', '$4.17': an amount, with cents only where there are some. Negative for a credit. */
export function formatMoney({ cents, currency }: Money): string {
  const format = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    trailingZeroDisplay: 'stripIfInteger',
  });
  const { maximumFractionDigits = 2 } = format.resolvedOptions();
  return format.format(cents / 10 ** maximumFractionDigits);
}

const dollars = (amount: number): string => formatMoney({ cents: Math.round(amount * 100), currency: 'USD' });

/** '$5 per month', '$0'. */
export function formatPrice(plan: Plan, interval: BillingInterval): string {
  const price = plan.price[interval];
  return price === 0 ? dollars(0) : `${dollars(price)} per ${interval === 'monthly' ? 'month' : 'year'}`;
}

/** '$4.17': a year's price, for one month. */
export const monthlyShare = (plan: Plan): string => dollars(plan.price.yearly / MONTHS_PER_YEAR);

/** What a plan allows, as rows of a table. */
export function planFacts(plan: Plan): readonly { readonly name: string; readonly value: string }[] {
  return [
    { name: 'Endpoints', value: String(plan.endpoints) },
    { name: 'Endpoint lifetime', value: lifetime(plan.expiryMs) },
    { name: 'Favorites', value: String(plan.favorites) },
    { name: 'Email notifications', value: plan.emailNotifications ? 'Yes' : 'No' },
    { name: 'Priority support', value: plan.prioritySupport ? 'Yes' : 'No' },
  ];
}
