// A server without billing: the page says so and offers no action that would fail.
import { expect, OWN_SETTINGS, test } from './app.ts';
import { changeAnswer } from './pages.ts';
import { chooseInterval, planCard } from './plans.ts';

test.use({ appSettings: OWN_SETTINGS });

test('without billing the plans are shown without buttons', async ({ page, person: _ }) => {
  await page.goto('/subscription');
  await expect(page.getByText('Billing is not set up on this server.')).toBeVisible();
  await chooseInterval(page, 'Yearly');
  await expect(planCard(page, 'PREMIUM')).toContainText('$100 per year');
  for (const tier of ['FREE', 'BASIC', 'PREMIUM'] as const) {
    await expect(planCard(page, tier).getByRole('button')).toHaveCount(0);
  }
  // The plan of the server's accounts costs them nothing.
  await page.goto('/profile?tab=subscription');
  await expect(page.getByText('Premium Plan$0', { exact: true })).toBeVisible();

  // With billing, such a plan still has no subscription, and its page says why it has no buttons.
  await changeAnswer(page, '**/api/service', { billing: 'test' });
  await page.goto('/subscription');
  await expect(page.getByText('This server gave you your plan without a subscription')).toBeVisible();

  const answer = await page.request.post('/api/subscription/change', { data: { tier: 'BASIC', interval: 'monthly' } });
  expect([answer.status(), (await answer.json()).code]).toEqual([501, 'BILLING_OFF']);
});
