import { expect, register, test } from './app.ts';

test('a visitor is redirected to the login page', async ({ page }) => {
  await page.goto('/');
  await expect(page).toHaveURL(/\/auth/);
  await expect(page.getByRole('button', { name: /sign in|login/i }).first()).toBeVisible();
});

test('a logged-in user sees the dashboard, and another user sees another one', async ({
  page,
  person,
  app,
  browser,
}) => {
  await page.goto('/');
  await expect(page.getByText(person.username).first()).toBeVisible();

  const other = await browser.newContext({ baseURL: app.url });
  const second = await register(other);
  const theirs = await other.newPage();
  await theirs.goto('/');
  await expect(theirs.getByText(second.username).first()).toBeVisible();
  await expect(theirs.getByText(person.username)).toHaveCount(0);
  await other.close();
});
