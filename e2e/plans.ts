// Helpers for tests of plans: the cards, and a subscription from the test gateway.
import { userSchema } from '@creel/contract';
import type { BillingInterval, Tier, User } from '@creel/contract';
import { expect } from '@playwright/test';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { z } from 'zod';

const PLAN_NAMES = { FREE: 'Free', BASIC: 'Basic', PREMIUM: 'Premium' } as const;

/** The card of a plan. */
export function planCard(page: Page, tier: Tier): Locator {
  const heading = page.getByRole('heading', { level: 3, name: PLAN_NAMES[tier], exact: true });
  return page.getByRole('listitem').filter({ has: heading });
}

export const chooseInterval = (page: Page, name: 'Monthly' | 'Yearly'): Promise<void> =>
  page.getByRole('radio', { name: new RegExp(`^${name}`) }).click();

/** Returns the logged-in user from the server. */
export async function readUser({ request }: Pick<BrowserContext, 'request'>): Promise<User> {
  return userSchema.parse(await (await request.get('/api/user')).json());
}

/** Buys a plan through the API of the test gateway. Returns the user with the plan. */
export async function subscribe(
  { request }: Pick<BrowserContext, 'request'>,
  tier: Tier,
  interval: BillingInterval = 'monthly',
): Promise<User> {
  const data = { tier, interval, returnUrl: '/subscription' };
  const started = await request.post('/api/subscription/checkout', { data });
  expect(started.status(), await started.text()).toBe(200);
  const { url } = z.object({ url: z.url() }).parse(await started.json());
  const id = new URL(url).pathname.split('/').at(-1) ?? '';
  const paid = await request.post(`/api/billing/test/checkout/${id}`, { data: { action: 'pay' } });
  expect(paid.status(), await paid.text()).toBe(200);
  const user = await readUser({ request });
  expect(user.subscriptionTier).toBe(tier);
  return user;
}

/** Performs an action on the subscription in the gateway's portal. */
export async function actInPortal(page: Page, action: string): Promise<void> {
  const answer = await page.request.post('/api/billing/test/portal', { data: { action } });
  expect(answer.status(), await answer.text()).toBe(200);
}
