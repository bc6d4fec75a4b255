// Plans, confirmations and the pages of the test gateway, in every state of a subscription.
import type { PlanChangePreview, TestCheckout, TestSubscription, User } from '@creel/contract';
import type { Page } from '@playwright/test';
import { problem } from '../pages.ts';
import { answering, changing, failing, shows, waiting } from './scene.ts';
import type { Scene } from './scene.ts';
import type { Prepare } from './stage.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

type Subscription = Partial<
  Pick<
    User,
    'billingInterval' | 'stripeSubscriptionId' | 'subscriptionEndDate' | 'subscriptionStatus' | 'subscriptionTier'
  >
>;

const FREE: Subscription = { subscriptionTier: 'FREE', subscriptionStatus: 'inactive' };
const BASIC: Subscription = {
  subscriptionTier: 'BASIC',
  subscriptionStatus: 'active',
  billingInterval: 'monthly',
  stripeSubscriptionId: 'sub_1',
};
const PREMIUM: Subscription = { ...BASIC, subscriptionTier: 'PREMIUM', billingInterval: 'yearly' };
const CANCELING: Subscription = { ...BASIC, subscriptionStatus: 'canceled', subscriptionEndDate: inDays(12) };

const all =
  (...parts: readonly Prepare[]): Prepare =>
  async (page) => {
    for (const part of parts) await part(page);
  };

const subscribed = (subscription: Subscription): Prepare => changing('**/api/user', subscription);
const billing = (mode: string): Prepare => changing('**/api/service', { billing: mode });
const previewing = (preview: Partial<PlanChangePreview>): Prepare =>
  answering('**/api/subscription/preview?*', {
    deletes: [],
    at: null,
    losesFavorites: 0,
    expiresInMs: null,
    amount: null,
    ...preview,
  });

const DELETES = [
  ['Stripe billing', 1284],
  ['GitHub staging', 128],
  [null, 1],
  ['نقطة نهاية للمدفوعات', 2],
  ['A name as long as names of endpoints may become before they are cut off at their end', 40],
  ['Shop import', 0],
] as const;
const deletes = DELETES.map(([name, requestCount], at) => ({ uid: `9f31c0aa${at}`, name, requestCount }));

async function press(page: Page, button: string): Promise<Page> {
  await page.getByRole('button', { name: button }).click();
  return page;
}

const plans = (name: string, before: Prepare, sign: string, path = '/subscription'): Scene => ({
  name: `subscription-${name}`,
  play: async ({ open }) => shows(await open('owner', path, before), sign),
});

const states: Scene[] = [
  plans('free', subscribed(FREE), 'Upgrade to Basic'),
  plans('basic', subscribed(BASIC), 'Upgrade to Premium'),
  plans('premium-yearly', all(subscribed(PREMIUM), billing('stripe')), 'Downgrade to Basic'),
  plans('canceling', subscribed(CANCELING), 'Renew Subscription'),
  plans('past-due', subscribed({ ...BASIC, subscriptionStatus: 'past_due' }), 'Your last payment failed'),
  plans('off', all(subscribed(FREE), billing('off')), 'Billing is not set up'),
  plans('confirming', subscribed(FREE), 'Confirming your payment', '/subscription?checkout=success'),
];

const dialog = (name: string, user: Subscription, button: string, before: Prepare, sign: string): Scene => ({
  name: `subscription-${name}`,
  play: async ({ open }) => {
    const page = await open('owner', '/subscription', all(subscribed(user), before));
    return shows(await press(page, button), page.getByRole('alertdialog').getByText(sign).first());
  },
});

const CHARGE = { amount: { cents: 483, currency: 'usd' } };
const CREDIT = { amount: { cents: -4120, currency: 'usd' } };
const DOWNGRADE = { deletes, losesFavorites: 3, expiresInMs: 7 * DAY_MS, ...CREDIT };
const CANCELLATION = { deletes: deletes.slice(0, 2), at: inDays(12), losesFavorites: 1, expiresInMs: DAY_MS };

const dialogs: Scene[] = [
  dialog('upgrade', BASIC, 'Upgrade to Premium', previewing(CHARGE), '$4.83'),
  dialog('downgrade', PREMIUM, 'Downgrade to Basic', previewing(DOWNGRADE), 'Export requests'),
  dialog('cancel', BASIC, 'Cancel subscription', previewing(CANCELLATION), 'Export requests'),
  dialog('preview-loading', PREMIUM, 'Downgrade to Basic', waiting('**/api/subscription/preview?*'), 'Basic plan'),
  dialog('preview-failed', PREMIUM, 'Downgrade to Basic', failing('**/api/subscription/preview?*'), 'Try again'),
  {
    name: 'subscription-portal-error',
    perSize: true,
    play: async ({ open }) => {
      const error = 'The billing portal is not configured yet.';
      const refused = problem(error, 'PORTAL_NOT_CONFIGURED');
      const before = all(subscribed(BASIC), answering('**/api/subscription/portal', refused, 503));
      const page = await open('owner', '/subscription', before);
      return shows(await press(page, 'Open billing portal'), 'Portal Access Error');
    },
  },
  {
    name: 'profile-subscription-canceling',
    play: async ({ open }) =>
      shows(await open('owner', '/profile?tab=subscription', subscribed(CANCELING)), 'Renew Subscription'),
  },
];

const checkout: TestCheckout = {
  id: 'cs_test_1',
  status: 'open',
  tier: 'PREMIUM',
  interval: 'yearly',
  price: { cents: 10_000, currency: 'usd' },
  email: 'marta@example.com',
  returnUrl: '/subscription?checkout=canceled',
};
const subscription: TestSubscription = {
  id: 'sub_1',
  tier: 'BASIC',
  interval: 'monthly',
  price: { cents: 500, currency: 'usd' },
  status: 'active',
  currentPeriodEnd: inDays(30),
  cancelAt: null,
  now: inDays(0),
};

const atCheckout = (name: string, change: Partial<TestCheckout>, sign: string): Scene => ({
  name: `test-checkout-${name}`,
  play: async ({ open }) => {
    const before = answering('**/api/billing/test/checkout/*', { ...checkout, ...change });
    return shows(await open('owner', '/billing/test/checkout/cs_test_1', before), sign);
  },
});

const atPortal = (name: string, change: Partial<TestSubscription>, sign: string): Scene => ({
  name: `test-portal-${name}`,
  play: async ({ open }) => {
    const before = answering('**/api/billing/test/portal', { ...subscription, ...change });
    return shows(await open('owner', '/billing/test/portal', before), sign);
  },
});

const declined = 'The payment failed. Your plan has not changed. Please try another card.';

const gateway: Scene[] = [
  atCheckout('open', {}, 'Pay $100'),
  atCheckout('paid', { status: 'complete' }, 'This checkout is paid'),
  atCheckout('expired', { status: 'expired' }, 'This checkout has expired'),
  {
    name: 'test-checkout-declined',
    play: async ({ open }) => {
      const page = await open('owner', '/billing/test/checkout/cs_test_1', (each) =>
        each.route('**/api/billing/test/checkout/*', (route) =>
          route.request().method() === 'GET'
            ? route.fulfill({ json: checkout })
            : route.fulfill({ status: 402, json: problem(declined, 'PAYMENT_FAILED') }),
        ),
      );
      return shows(await press(page, 'Decline the card'), declined);
    },
  },
  {
    name: 'test-checkout-missing',
    play: async ({ open }) => shows(await open('owner', '/billing/test/checkout/none'), 'does not exist'),
  },
  atPortal('active', {}, 'Renews on'),
  atPortal('canceling', { cancelAt: inDays(30) }, 'Ends on'),
  atPortal('past-due', { status: 'past_due' }, 'The next try with the card'),
  atPortal('ended', { status: 'canceled' }, 'Ended'),
];

const limits: Scene[] = [
  {
    name: 'endpoint-on-free',
    play: async ({ open, main }) => shows(await open('owner', `/endpoints/${main.uid}`, subscribed(FREE)), 'Upgrade'),
  },
  {
    name: 'settings-on-free',
    play: async ({ open }) => shows(await open('owner', '/settings', subscribed(FREE)), 'Upgrade'),
  },
];

export const billingScenes: readonly Scene[] = [...states, ...dialogs, ...gateway, ...limits];
