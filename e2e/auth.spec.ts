// Registration, login and logout, with their errors.
import type { Page } from '@playwright/test';
import { actLoggedOut, expect, register, test } from './app.ts';
import { goTo } from './endpoints.ts';
import { logIn, logOut, problem } from './pages.ts';

async function fillRegistration(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
  await page.getByRole('button', { name: 'Register' }).click();
}

test('a user registers, logs out and logs in again', async ({ page }) => {
  const username = `marta-${Date.now()}`;
  await page.goto('/');
  await expect(page).toHaveURL(/\/auth$/);
  await expect(page.getByRole('button', { name: 'Login' })).toBeVisible();
  await page.getByRole('tab', { name: 'Register' }).click();
  await fillRegistration(page, {
    Username: username,
    Email: `${username}@example.com`,
    Password: 'secret1',
    'Confirm Password': 'secret1',
  });
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
  await expect(page.getByText('No endpoints yet')).toBeVisible();

  await logOut(page, username);
  await page.goBack();
  await expect(page).toHaveURL(/\/auth/);

  await logIn(page, username, 'wrong password');
  await expect(page.getByRole('alert').filter({ hasText: 'Invalid username or password' })).toBeVisible();
  await logIn(page, `  ${username.toUpperCase()} `, 'secret1');
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
});

test('every message is at its field, and disappears when the field changes', async ({ page, person }) => {
  await page.context().clearCookies();
  await page.goto('/auth?tab=register');
  await fillRegistration(page, { Username: 'ab', Email: 'nowhere', Password: 'short', 'Confirm Password': 'other' });
  const messageOf = (label: string) => page.getByLabel(label, { exact: true });
  await expect(messageOf('Username')).toHaveAccessibleDescription('Username must be at least 3 characters');
  await expect(messageOf('Email')).toHaveAccessibleDescription('Please enter a valid email address');
  await expect(messageOf('Password')).toHaveAccessibleDescription('Password must be at least 6 characters');
  await expect(messageOf('Confirm Password')).toHaveAccessibleDescription('Passwords do not match');
  await expect(messageOf('Username')).toBeFocused();

  await messageOf('Username').fill('abc');
  await expect(page.getByText('Username must be at least 3 characters')).toBeHidden();

  await fillRegistration(page, { Password: 'secret1', 'Confirm Password': 'secret2', Email: 'a@example.com' });
  await expect(messageOf('Confirm Password')).toHaveAccessibleDescription('Passwords do not match');

  // Errors that only the server can detect also appear at their field.
  await fillRegistration(page, { Username: person.username, 'Confirm Password': 'secret1' });
  await expect(messageOf('Username')).toHaveAttribute('aria-invalid', 'true');
  await expect(messageOf('Username')).toBeFocused();
  await messageOf('Username').pressSequentially('x');
  await expect(messageOf('Username')).not.toHaveAttribute('aria-invalid');
  await expect(page.getByText('Username already exists')).toBeHidden();

  await page.getByRole('tab', { name: 'Login' }).click();
  await logIn(page, 'ab', '12345');
  await expect(messageOf('Username')).toHaveAccessibleDescription('Username must be at least 3 characters');
  await expect(messageOf('Password')).toHaveAccessibleDescription('Password must be at least 6 characters');

  const sentence = 'Too many attempts. Please try again in 60 seconds.';
  await page.route('**/api/login', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '60' },
      json: problem(sentence, 'RATE_LIMITED'),
    }),
  );
  await logIn(page, person.username, 'secret1');
  await expect(page.getByRole('alert')).toHaveText(sentence);
});

test('after the login, a visitor is redirected to the requested page and nowhere else', async ({ page, person }) => {
  await page.context().clearCookies();
  await page.goto('/search?q=refs%2Fheads');
  await expect(page).toHaveURL(/\/auth$/);
  await page.getByRole('tab', { name: 'Register' }).click();
  await expect(page).toHaveURL(/\/auth\?tab=register$/);
  await page.getByRole('tab', { name: 'Login' }).click();
  await logIn(page, person.username, person.password);
  await expect(page).toHaveURL(/\/search\?q=refs/);

  // A visitor who loads the login page again wants the dashboard.
  await page.context().clearCookies();
  await page.goto('/settings');
  await expect(page).toHaveURL(/\/auth$/);
  await page.goto('/auth');
  await logIn(page, person.username, person.password);
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();

  // For a logged-in user, the login page redirects, but only within this site.
  await page.goto('/auth?next=%2Fsettings');
  await expect(page).toHaveURL(/\/settings$/);
  for (const next of ['https://evil.example/', '//evil.example/x', '/\\evil.example/x', 'javascript:alert(1)']) {
    await page.goto(`/auth?next=${encodeURIComponent(next)}`);
    await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
    expect(new URL(page.url()).pathname).toBe('/');
  }
});

test("another user who logs in after an ended session does not see the first user's screens", async ({
  page,
  context,
  person,
}) => {
  await page.goto('/profile');
  await expect(page.getByLabel('Username')).toHaveValue(person.username);
  const second = await register(context);
  await page.getByLabel('Username').fill('somebody');
  await actLoggedOut(page, () => page.getByRole('button', { name: 'Update Username' }).click());
  const dialog = page.getByRole('dialog', { name: 'You have been logged out' });
  await dialog.getByLabel('Username').fill(second.username);
  await dialog.getByLabel('Password').fill(second.password);
  await dialog.getByRole('button', { name: 'Login' }).click();
  await expect(page.getByRole('button', { name: `Account of ${second.username}` })).toBeVisible();
});

test('without email, the page says what does not work', async ({ page }) => {
  await test.step('without email, the page says that passwords cannot be reset', async () => {
    await page.goto('/auth');
    await page.getByRole('button', { name: 'Forgot your password?' }).click();
    await expect(page.getByText('Email is off on this server, so no link can be sent.')).toBeVisible();
  });

  await test.step('emailed links without a token say so', async () => {
    await goTo(page, '/auth/reset');
    await expect(page.getByRole('alert')).toContainText('This link is not complete');
    // Confirming an address needs a session, so this page asks for a login first.
    await goTo(page, '/auth/verify');
    await expect(page.getByRole('tab', { name: 'Login' })).toBeVisible();
  });
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
