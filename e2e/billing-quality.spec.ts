// The screens of plans and payment: axe, every width, and the content security policy.
import type { Page } from '@playwright/test';
import { expect, pressEscape, test } from './app.ts';
import { expectNoFindings } from './axe.ts';
import { createEndpoint } from './endpoints.ts';
import { actInPortal, subscribe } from './plans.ts';
import { expectFits, noteBreaches } from './pages.ts';

async function expectGood(page: Page, what: string, part?: string): Promise<void> {
  await expectNoFindings(page, what, part);
  await expectFits(page, what);
}

test('the plans and their dialogs', async ({ page, person: _ }) => {
  await page.goto('/subscription');
  await expect(page.getByRole('button', { name: 'Upgrade to Basic' })).toBeEnabled();
  await expectGood(page, 'Free');
  await subscribe(page, 'PREMIUM');
  const names = [
    'W'.repeat(100),
    'نقطة نهاية '.repeat(9).trim(),
    ...Array.from({ length: 15 }, (__, at) => `Name ${at}`),
  ];
  for (const name of names) await createEndpoint(page, name);
  await page.reload();
  for (const [button, sign] of [
    ['Downgrade to Basic', 'Deletes 12 endpoints and all their requests now:'],
    ['Cancel subscription', /^Deletes 16 endpoints and all their requests on/],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await expect(page.getByRole('alertdialog').getByText(sign)).toBeVisible();
    await expectGood(page, button, '[role="alertdialog"]');
    const box = await page.getByRole('alertdialog').boundingBox();
    expect.soft(box?.x, button).toBeGreaterThanOrEqual(0);
    await pressEscape(page);
  }
  await actInPortal(page, 'cancel');
  for (const path of ['/subscription', '/profile?tab=subscription']) {
    await page.goto(path);
    await expect(page.getByText('Canceling').first()).toBeVisible();
    await expectGood(page, path);
  }
});

test("the gateway's pages", async ({ page, person: _ }) => {
  const breaches = await noteBreaches(page);
  await page.goto('/subscription');
  await page.getByRole('button', { name: 'Upgrade to Basic' }).click();
  await page.getByRole('button', { name: 'Decline the card' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await expectGood(page, 'checkout');
  await page.getByRole('button', { name: 'Pay $5' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Subscription' })).toBeVisible();
  await page.goto('/billing/test/portal');
  await expect(page.getByText('Renews on')).toBeVisible();
  await expectGood(page, 'portal');
  await page.getByRole('button', { name: 'Fail next payment' }).click();
  await expect(page.getByRole('button', { name: 'Pay', exact: true })).toBeVisible();
  await expectGood(page, 'portal, payment failed', 'main');
  expect(breaches).toEqual([]);
});
