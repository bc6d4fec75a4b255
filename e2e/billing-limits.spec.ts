// Every limit of a plan leads to the page where the plan can be changed.
import type { Locator, Page } from '@playwright/test';
import { expect, test, toast } from './app.ts';
import { changeEndpoint, createEndpoint, goTo } from './endpoints.ts';
import { subscribe } from './plans.ts';

async function expectPlansBehind(page: Page, link: Locator): Promise<void> {
  await link.click();
  await expect(page.getByRole('heading', { level: 1, name: 'Subscription' })).toBeVisible();
}

test('on Free the favorite switch and the notifications lead to the plans', async ({ page, endpoint }) => {
  await page.goto(`/endpoints/${endpoint.uid}`);
  await expectPlansBehind(
    page,
    page.getByRole('region', { name: 'Endpoint URL' }).getByRole('link', { name: 'Upgrade' }),
  );
  await goTo(page, '/settings');
  const notice = page.getByRole('main').getByRole('status');
  await expect(notice).toHaveText(/Email is off on this server.+Email notifications come with the Basic and Premium/);
  await expect(page.getByText('Email notifications come with the Basic and Premium plans.')).toBeVisible();
  await expectPlansBehind(page, page.getByRole('main').getByRole('link', { name: 'Upgrade' }));
});

test('on Basic a second favorite leads to the plans', async ({ page, person: _ }) => {
  await subscribe(page, 'BASIC');
  const { uid } = await createEndpoint(page);
  const other = await createEndpoint(page, 'Other');
  await changeEndpoint(page, other, { isFavorite: true });
  await page.goto(`/endpoints/${uid}`);
  await expect(page.getByRole('link', { name: 'Upgrade' })).toHaveCount(0);
  await page.getByRole('switch', { name: 'Favorite' }).click();
  await expect(toast(page, 'Your plan allows 1 favorite. Remove one first or upgrade.')).toBeVisible();
  await expectPlansBehind(page, page.getByRole('button', { name: 'Upgrade', exact: true }));
});

test('a limit that only the server knows leads to the plans too', async ({ page, person: _ }) => {
  await page.goto('/');
  await expect(page.getByText('No endpoints yet')).toBeVisible();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Create Endpoint' });
  await createEndpoint(page);
  await dialog.getByRole('button', { name: 'Create Endpoint' }).click();
  await expect(toast(page, 'Error')).toBeVisible();
  await expect(toast(page, 'Free users can only create one endpoint. Please upgrade for more.')).toBeVisible();
  await expect(dialog).toBeHidden();
  await expectPlansBehind(page, page.getByRole('button', { name: 'Upgrade', exact: true }));
});
