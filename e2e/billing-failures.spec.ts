// Messages for failed billing calls.
import type { Page } from '@playwright/test';
import { expect, test, toast } from './app.ts';
import { goTo } from './endpoints.ts';
import { actInPortal, planCard, readUser, subscribe } from './plans.ts';
import { answerWith, changeAnswer, problem } from './pages.ts';

async function confirmUpgrade(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Upgrade to Premium' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('button', { name: 'Upgrade to Premium' }).click();
  await expect(dialog).toBeHidden();
}

test('a checkout and the pages of the gateway say what does not work', async ({ page, person: _ }) => {
  await test.step('choosing Free on Free says that this is the plan', async () => {
    await page.goto('/subscription');
    await planCard(page, 'FREE').getByRole('button', { name: 'Current plan' }).click();
    await expect(toast(page, 'Already on Free plan')).toBeVisible();
    const answer = await page.request.post('/api/subscription/change', { data: { tier: 'FREE', interval: 'monthly' } });
    expect([answer.status(), (await answer.json()).error]).toEqual([400, 'Already on Free plan']);
  });

  await test.step('a checkout that does not start says why', async () => {
    const button = page.getByRole('button', { name: 'Upgrade to Basic' });
    await answerWith(page, '**/api/subscription/checkout', 502, problem('Sentence of the server', 'BILLING_FAILED'));
    await button.click();
    await expect(toast(page, 'Error')).toBeVisible();
    await expect(toast(page, 'Sentence of the server')).toBeVisible();
    await answerWith(page, '**/api/subscription/checkout', 500);
    await button.click();
    await expect(toast(page, 'Failed to create checkout session')).toBeVisible();
    await page.unrouteAll();
  });

  await test.step('the buttons stay busy until the browser has left the page', async () => {
    const button = page.getByRole('button', { name: 'Upgrade to Basic' });
    // With 204 the browser stays on the page, as while the next one is slow.
    await page.route('**/billing/test/checkout/*', (route) => route.fulfill({ status: 204 }));
    const leaving = page.waitForResponse('**/billing/test/checkout/*');
    await button.click();
    await leaving;
    // The page draws what the response to the call has changed.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
    expect(await planCard(page, 'BASIC').getByRole('button').innerText()).toBe('One moment…');
    await page.unrouteAll();
    // Back from the checkout, the browser shows the page as it was left.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await button.click();
    await expect(page).toHaveURL(/\/billing\/test\/checkout\//);
  });

  await test.step("another user's checkout does not exist", async () => {
    await goTo(page, '/billing/test/checkout/cs_test_of_somebody');
    await expect(page.getByRole('alert')).toContainText('This checkout does not exist.');
    await goTo(page, '/billing/test/portal?return=https://evil.example/');
    await expect(page.getByText('There is no subscription yet.')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Return to Creel' })).toHaveAttribute('href', '/');
  });
});

test('a change or a portal that fails says why', async ({ page, person: _ }) => {
  await test.step('a change that fails says why, and changes nothing', async () => {
    await subscribe(page, 'BASIC');
    await page.goto('/subscription');
    await answerWith(page, '**/api/subscription/change', 500);
    await confirmUpgrade(page);
    await expect(toast(page, 'Failed to change subscription tier')).toBeVisible();
    await answerWith(page, '**/api/subscription/change', 402, problem('The payment failed.', 'PAYMENT_FAILED'));
    await confirmUpgrade(page);
    await expect(toast(page, 'The payment failed.')).toBeVisible();
    await expect(planCard(page, 'BASIC').getByText('Current plan').first()).toBeVisible();
    await page.unrouteAll();
    await confirmUpgrade(page);
    await expect(toast(page, 'You are on the Premium plan now.')).toBeVisible();
  });

  await test.step('a portal that fails to open shows an error; an unconfigured portal shows it for 10 seconds', async () => {
    const button = page.getByRole('button', { name: 'Open billing portal' });
    await answerWith(page, '**/api/subscription/portal', 500);
    await button.click();
    await expect(toast(page, 'Failed to create portal session')).toBeVisible();

    const sentence = 'The billing portal is not configured yet.';
    await answerWith(page, '**/api/subscription/portal', 503, problem(sentence, 'PORTAL_NOT_CONFIGURED'));
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await button.click();
    await expect(toast(page, 'Portal Access Error')).toBeVisible();
    await expect(toast(page, sentence)).toBeVisible();
    // Focus and hover pause the toast's timer. This test uses neither.
    await page.clock.runFor(9000);
    await expect(toast(page, 'Portal Access Error')).toBeVisible();
    await page.clock.runFor(2000);
    await expect(toast(page, 'Portal Access Error')).toBeHidden();
    await page.clock.resume();

    await page.unrouteAll();
    await answerWith(page, '**/api/subscription/portal', 200, {
      url: '/billing/test/portal',
      fallback: true,
      message: 'Use this page instead.',
    });
    await button.click();
    await expect(toast(page, 'Use this page instead.')).toBeVisible();
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Billing portal' })).toBeVisible();
  });

  await test.step('the portal of the gateway keeps the subscription after a failed action, and offers to load it again', async () => {
    await page.unrouteAll();
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
    await expect(cancel).toBeVisible();
    await page.route('**/api/billing/test/portal', (route) => route.abort());
    const read = page.waitForEvent('requestfailed', (call) => call.method() === 'GET');
    await cancel.click();
    await read;
    await expect(page.getByRole('alert')).toContainText('The server could not be reached');
    await expect(cancel).toBeEnabled();
    await page.reload();
    await expect(page.getByRole('alert')).toContainText('The server could not be reached');
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(cancel).toBeVisible();
  });
});

test('the portal and the end of a plan follow the state of the subscription', async ({ page, person: _ }) => {
  await test.step('the portal has a button only while the subscription is active or canceled', async () => {
    const button = page.getByRole('button', { name: 'Open billing portal' });
    await page.goto('/subscription');
    await expect(page.getByRole('button', { name: 'Upgrade to Basic' })).toBeEnabled();
    await expect(button).toHaveCount(0);
    await subscribe(page, 'BASIC');
    await page.reload();
    await expect(button).toBeVisible();
    await actInPortal(page, 'cancel');
    await page.reload();
    await expect(page.getByText('Canceling')).toBeVisible();
    await expect(button).toBeVisible();
  });

  await test.step('a plan that was canceled elsewhere keeps its end, and an end in the past is none', async () => {
    expect((await readUser(page)).subscriptionEndDate).not.toBeNull();
    await expect(page.getByText(/Your subscription is canceled\. You keep the Basic plan until/)).toBeVisible();
    await changeAnswer(page, '**/api/user', { subscriptionEndDate: '2020-01-01T00:00:00.000Z' });
    await page.reload();
    await expect(planCard(page, 'BASIC').getByText('Current plan').first()).toBeVisible();
    await expect(page.getByText('Canceling')).toHaveCount(0);
  });
});

test("a visitor logs in before the gateway's pages", async ({ page }) => {
  await page.goto('/billing/test/portal');
  await expect(page).toHaveURL(/\/auth$/);
});
