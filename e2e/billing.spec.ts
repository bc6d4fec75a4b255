// Every change of plan with the built-in test gateway, only through the page, with mouse and keyboard.
import type { Page } from '@playwright/test';
import { expect, pressEscape, test, toast } from './app.ts';
import { createEndpoint, goTo } from './endpoints.ts';
import { actInPortal, chooseInterval, planCard, readUser, subscribe } from './plans.ts';
import { heading } from './pages.ts';

const alert = (page: Page, name: string) => page.getByRole('alertdialog', { name });

/** Goes from a plan's card through the checkout and back. */
async function checkOut(page: Page, button: string, price: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await expect(heading(page, 'Checkout')).toBeVisible();
  await expect(page.getByText('Test mode, no card is charged.')).toBeVisible();
  await page.getByRole('button', { name: `Pay ${price}` }).click();
  await expect(heading(page, 'Subscription')).toBeVisible();
}

for (const [name, interval, basic, premium, charge] of [
  ['Monthly', 'monthly', '$5', '$10', '$5'],
  ['Yearly', 'yearly', '$50', '$100', '$50'],
] as const) {
  test(`${interval}: Free to Basic to Premium to Basic, canceled and renewed`, async ({ page, person }) => {
    await page.goto('/subscription');
    await chooseInterval(page, name);
    await checkOut(page, 'Upgrade to Basic', basic);
    await expect(toast(page, 'You are on the Basic plan now.')).toBeVisible();
    await expect(planCard(page, 'BASIC').getByText('Current plan').first()).toBeVisible();
    await expect(page).toHaveURL(/\/subscription$/);
    await expect(page.getByRole('button', { name: `Account of ${person.username}` })).toContainText('Basic Plan');
    expect(await readUser(page)).toMatchObject({ subscriptionTier: 'BASIC', billingInterval: interval });

    await page.getByRole('button', { name: 'Upgrade to Premium' }).click();
    const upgrade = alert(page, 'Upgrade to Premium');
    await expect(upgrade).toContainText(`You will be charged ${charge} now. The price is ${premium} per`);
    await upgrade.getByRole('button', { name: 'Upgrade to Premium' }).click();
    await expect(toast(page, 'You are on the Premium plan now.')).toBeVisible();
    await expect(planCard(page, 'PREMIUM').getByText('Current plan').first()).toBeVisible();

    await page.getByRole('button', { name: 'Downgrade to Basic' }).click();
    const downgrade = alert(page, 'Downgrade to Basic');
    await expect(downgrade).toContainText('The Basic plan starts at once.');
    await expect(downgrade).toContainText('Each remaining endpoint expires 7 days from now.');
    await downgrade.getByRole('button', { name: 'Downgrade to Basic' }).click();
    await expect(planCard(page, 'BASIC').getByText('Current plan').first()).toBeVisible();

    await page.getByRole('button', { name: 'Cancel subscription' }).click();
    const cancel = alert(page, 'Cancel subscription');
    await expect(cancel).toContainText(
      /You keep your plan until \w+ \d+(, \d+)?\. Then your account moves to the Free plan\./,
    );
    await cancel.getByRole('button', { name: 'Cancel subscription' }).click();
    await expect(toast(page, 'Subscription canceled')).toBeVisible();
    await expect(planCard(page, 'BASIC').getByText('Canceling')).toBeVisible();
    await expect(planCard(page, 'FREE').getByRole('button')).toHaveCount(0);
    expect(await readUser(page)).toMatchObject({ subscriptionTier: 'BASIC' });

    await page.getByRole('button', { name: 'Renew Subscription' }).click();
    await expect(toast(page, 'Subscription renewed')).toBeVisible();
    await expect(page.getByText('Canceling')).toHaveCount(0);
    expect((await readUser(page)).subscriptionEndDate).toBeNull();
  });
}

test('a canceled plan lasts until its period ends, then the account is on Free', async ({ page, person: _ }) => {
  await subscribe(page, 'PREMIUM');
  for (const name of ['First', 'Second']) await createEndpoint(page, name);
  await page.goto('/subscription');
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  const dialog = alert(page, 'Cancel subscription');
  await expect(dialog.getByRole('list', { name: 'Endpoints to be deleted' })).toHaveText(/^First0 requests$/);
  await expect(dialog).toContainText(/Each remaining endpoint expires 24 hours after \w+ \d+/);
  await dialog.getByRole('button', { name: 'Keep subscription' }).click();
  await expect(dialog).toBeHidden();
  expect((await readUser(page)).subscriptionEndDate).toBeNull();

  await page.getByRole('button', { name: 'Open billing portal' }).click();
  await expect(heading(page, 'Billing portal')).toBeVisible();
  await expect(page.getByText('Test mode, no card is charged.')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(page.getByText('Active, canceled at the end of the period')).toBeVisible();
  await page.getByRole('button', { name: 'Renew', exact: true }).click();
  await expect(page.getByText('Renews on')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'Advance time' }).click();
  await expect(page.getByText('Ended')).toBeVisible();
  await page.getByRole('link', { name: 'Return to Creel' }).click();
  await expect(planCard(page, 'FREE').getByText('Current plan').first()).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Endpoints' }).getByRole('link')).toHaveText([/Second/]);
  await expect(page.getByRole('button', { name: 'Open billing portal' })).toHaveCount(0);
  expect(await readUser(page)).toMatchObject({ subscriptionTier: 'FREE', subscriptionStatus: 'inactive' });
});

test('months become years after a confirmation', async ({ page, person: _ }) => {
  await subscribe(page, 'BASIC');
  await page.goto('/subscription');
  await chooseInterval(page, 'Yearly');
  await expect(planCard(page, 'BASIC').getByText('$4.17 per month, 17% less')).toBeVisible();
  await page.getByRole('button', { name: 'Switch to yearly billing' }).click();
  const dialog = alert(page, 'Switch to yearly billing');
  await expect(dialog).toContainText('You will be charged $45 now. The price is $50 per year.');
  await dialog.getByRole('button', { name: 'Switch to yearly billing' }).click();
  await expect(planCard(page, 'BASIC').getByRole('button', { name: 'Current plan' })).toBeDisabled();
  expect((await readUser(page)).billingInterval).toBe('yearly');
  await page.reload();
  await expect(page.getByRole('radio', { name: /^Yearly/ })).toBeChecked();
});

test('a declined card leaves the plan and says so; leaving or expiring charges nothing', async ({
  page,
  person: _,
}) => {
  await page.goto('/subscription');
  await page.getByRole('button', { name: 'Upgrade to Premium' }).click();
  await page.getByRole('button', { name: 'Decline the card' }).click();
  await expect(page.getByRole('alert')).toHaveText('The card was declined. Please try another card.');
  expect((await readUser(page)).subscriptionTier).toBe('FREE');
  await page.getByRole('link', { name: 'Cancel and go back' }).click();
  await expect(page.getByText('You left the checkout. Nothing was charged.')).toBeVisible();
  await page.getByRole('button', { name: 'Upgrade to Premium' }).click();
  await page.getByRole('button', { name: 'Let the checkout expire' }).click();
  await expect(heading(page, 'Subscription')).toBeVisible();
  await page.goBack();
  await expect(page.getByText('This checkout has expired. Nothing was charged.')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Pay/ })).toHaveCount(0);
  expect((await readUser(page)).subscriptionTier).toBe('FREE');
});

test('a failed renewal keeps the plan and shows a notice until it is paid', async ({ page, person: _ }) => {
  await subscribe(page, 'BASIC');
  await page.goto('/billing/test/portal');
  await page.getByRole('button', { name: 'Fail next payment' }).click();
  await expect(page.getByText('Payment failed, being tried again')).toBeVisible();
  await page.getByRole('link', { name: 'Return to Creel' }).click();
  await expect(page.getByRole('alert')).toContainText('Your last payment failed. You keep the Basic plan');
  await expect(page.getByRole('button', { name: 'Open billing portal' })).toHaveCount(0);
  await goTo(page, '/profile?tab=subscription');
  await expect(heading(page, 'Profile')).toBeVisible();
  await expect(page.getByText('Payment failed', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Update payment method' }).click();
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await expect(page.getByText('Payment failed, being tried again')).toHaveCount(0);
  await expect(page.getByText('Renews on')).toBeVisible();
  await page.goto('/subscription');
  await expect(page.getByRole('button', { name: 'Open billing portal' })).toBeVisible();
  await expect(page.getByText('Your last payment failed.')).toHaveCount(0);
});

test('the page waits for a plan that arrives late after the checkout', async ({ page, person: _ }) => {
  let isLate = true;
  await page.route('**/api/user', async (route) => {
    const answer = await route.fetch();
    const free = { subscriptionTier: 'FREE', subscriptionStatus: 'inactive', stripeSubscriptionId: null };
    const user: object = await answer.json();
    await route.fulfill({ json: isLate ? { ...user, ...free } : user });
  });
  await page.goto('/subscription');
  await checkOut(page, 'Upgrade to Basic', '$5');
  await expect(page.getByText('Confirming your payment…')).toBeVisible();
  await expect(planCard(page, 'FREE').getByText('Current plan').first()).toBeVisible();
  isLate = false;
  await expect(planCard(page, 'BASIC').getByText('Current plan').first()).toBeVisible();
  await expect(page.getByText('Confirming your payment…')).toHaveCount(0);
  await expect(toast(page, 'Payment received')).toBeVisible();
});

test('the profile has the same plans, and renews there too', async ({ page, person: _ }) => {
  await subscribe(page, 'BASIC');
  await actInPortal(page, 'cancel');
  await page.goto('/profile?tab=subscription');
  const panel = page.getByRole('tabpanel', { name: 'Subscription' });
  await expect(panel.getByText('Basic Plan', { exact: true })).toBeVisible();
  await expect(panel.getByText('Canceling').first()).toBeVisible();
  await panel.getByRole('button', { name: 'Renew Subscription' }).click();
  await expect(panel.getByText('Canceling')).toHaveCount(0);
  await panel.getByRole('button', { name: 'Upgrade to Premium' }).click();
  await alert(page, 'Upgrade to Premium').getByRole('button', { name: 'Upgrade to Premium' }).click();
  await expect(panel.getByText('Premium Plan', { exact: true })).toBeVisible();
});

test('everything works by keyboard, and the focus keeps its place', async ({ page, person: _ }) => {
  await subscribe(page, 'BASIC');
  await page.goto('/subscription');
  await page.getByRole('radio', { name: /^Monthly/ }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('radio', { name: /^Yearly/ })).toBeChecked();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('radio', { name: /^Monthly/ })).toBeChecked();
  const button = page.getByRole('button', { name: 'Upgrade to Premium' });
  await button.focus();
  await page.keyboard.press('Enter');
  const dialog = alert(page, 'Upgrade to Premium');
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await pressEscape(page);
  await expect(dialog).toBeHidden();
  await expect(button).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('button', { name: 'Upgrade to Premium' })).toBeEnabled();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(toast(page, 'You are on the Premium plan now.')).toBeVisible();
  await expect(page.locator('body')).not.toBeFocused();
});
