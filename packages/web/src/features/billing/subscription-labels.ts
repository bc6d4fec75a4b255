import { PLANS } from '@creel/contract';
import type { BillingInterval, Money, Plan, PlanChangePreview } from '@creel/contract';
import { counted, formatDate } from '../../ui/format.ts';
import { isCanceling, isPastDue } from './subscription-state.ts';
import type { PlanAction, PlanChoice, Subscriber } from './subscription-state.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS_PER_YEAR = 12;

/** '24 hours', '7 days': the time until an endpoint expires. */
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
    ...(plan.prioritySupport ? [{ name: 'Priority support', value: 'Yes' }] : []),
  ];
}

/** Actions that ask for confirmation first. */
const CONFIRMED_ACTIONS = ['upgrade', 'downgrade', 'switch-interval', 'cancel'] as const;
export type ConfirmedAction = (typeof CONFIRMED_ACTIONS)[number];

export const isConfirmed = (action: PlanAction): action is ConfirmedAction =>
  CONFIRMED_ACTIONS.some((confirmed) => confirmed === action);

const planName = ({ tier }: Pick<PlanChoice, 'tier'>): string => PLANS[tier].name;

/** The text of a card's button; `undefined` for no button. */
export function actionLabel(action: PlanAction, choice: PlanChoice): string | undefined {
  switch (action) {
    case 'unavailable':
      return undefined;
    case 'current':
    case 'already-free':
      return 'Current plan';
    case 'renew':
      return 'Renew Subscription';
    case 'checkout':
    case 'upgrade':
      return `Upgrade to ${planName(choice)}`;
    case 'downgrade':
      return `Downgrade to ${planName(choice)}`;
    case 'switch-interval':
      return `Switch to ${choice.interval} billing`;
    case 'cancel':
      return 'Cancel subscription';
  }
}

/**
 * What the dialog of an action asks. `preview` is absent until the server has answered, `isRenewed` is true where the
 * change takes a cancellation back. `now` in milliseconds.
 */
export function confirmation(
  action: ConfirmedAction,
  choice: PlanChoice,
  { preview, isRenewed = false }: { readonly preview?: PlanChangePreview | undefined; readonly isRenewed?: boolean },
  now: number,
) {
  const starts = action === 'downgrade' ? `The ${planName(choice)} plan starts at once. ` : '';
  const renewed = isRenewed ? ' Your subscription is no longer canceled.' : '';
  const label = actionLabel(action, choice) ?? '';
  const isCancel = action === 'cancel';
  return {
    title: label,
    confirmLabel: label,
    cancelLabel: isCancel ? 'Keep subscription' : 'Cancel',
    destructive: isCancel || action === 'downgrade',
    description: isCancel
      ? `You keep your plan ${untilDate(preview?.at, now)}. Then your account moves to the Free plan. Nothing more is charged.`
      : `${starts}${chargeSentence(choice, preview)}${renewed}`,
  };
}

/** 'until Dec 22'; without a date, in words. */
const untilDate = (date: string | null | undefined, now: number): string =>
  date === null || date === undefined ? 'until the end of the billing period' : `until ${formatDate(date, now)}`;

/** What a change costs now and from then on. */
function chargeSentence(choice: PlanChoice, preview: PlanChangePreview | undefined): string {
  const price = formatPrice(PLANS[choice.tier], choice.interval);
  if (preview === undefined) return `The price is ${price}.`;
  const { amount } = preview;
  if (amount === null) return `The price is ${price}. Unused time of your present plan counts toward it.`;
  if (amount.cents < 0) {
    return `The price is ${price}. ${formatMoney({ ...amount, cents: -amount.cents })} for unused time counts toward your next payments.`;
  }
  if (amount.cents === 0) return `Nothing is charged now. The price is ${price}.`;
  return `You will be charged ${formatMoney(amount)} now. The price is ${price}.`;
}

/** What a change does to endpoints, apart from the list of those that are deleted. */
export function consequences({ losesFavorites, expiresInMs, at }: PlanChangePreview, now: number): readonly string[] {
  const sentences: string[] = [];
  const what = losesFavorites === 1 ? 'a favorite' : 'favorites';
  if (losesFavorites > 0) sentences.push(`${counted(losesFavorites, 'favorite')} will no longer be ${what}.`);
  const when = at === null ? 'from now' : `after ${formatDate(at, now)}`;
  if (expiresInMs !== null) sentences.push(`Each remaining endpoint expires ${lifetime(expiresInMs)} ${when}.`);
  return sentences;
}

/** The heading of the list of endpoints that a change deletes. */
export function deletionHeading({ deletes, at }: PlanChangePreview, now: number): string {
  const what = `${counted(deletes.length, 'endpoint')} and all ${deletes.length === 1 ? 'its' : 'their'} requests`;
  return at === null ? `Deletes ${what} now:` : `Deletes ${what} on ${formatDate(at, now)}:`;
}

/** Where the browser downloads every stored request of these endpoints. */
export function exportAddress(uids: readonly string[]): string {
  return `/api/export?${new URLSearchParams(uids.map((uid) => ['endpoint', uid])).toString()}`;
}

/** What the page says after a change that worked. */
export function changedToast(action: PlanAction, user: Subscriber, now: number) {
  const name = PLANS[user.subscriptionTier].name;
  if (action === 'renew') return { title: 'Subscription renewed', description: `You keep the ${name} plan.` };
  if (action === 'cancel')
    return {
      title: 'Subscription canceled',
      description: `You keep the ${name} plan ${untilDate(user.subscriptionEndDate, now)}.`,
    };
  return { title: 'Plan changed', description: `You are on the ${name} plan now.` };
}

/** The state of the subscription, if the user should know about it; else `undefined`. */
export function subscriptionNotice(user: Subscriber, now: number): string | undefined {
  const name = PLANS[user.subscriptionTier].name;
  if (isPastDue(user)) {
    return `Your last payment failed. You keep the ${name} plan while the payment is tried again. If it keeps failing, your account moves to the Free plan.`;
  }
  if (isCanceling(user, now)) {
    return `Your subscription is canceled. You keep the ${name} plan ${untilDate(user.subscriptionEndDate, now)}, then your account moves to the Free plan.`;
  }
  return undefined;
}

/** 'Monthly', 'Yearly': the names of the toggle. */
export const INTERVAL_LABELS: Readonly<Record<BillingInterval, string>> = { monthly: 'Monthly', yearly: 'Yearly' };

/** Marks the pages of the test gateway, and the plans where it is used. */
export const TEST_MODE = 'Test mode, no card is charged.';
