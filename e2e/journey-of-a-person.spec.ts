// The complete journey of a user without stubs: a real server, a real OpenID provider in a real window, a real mail server.
import type { Page } from '@playwright/test';
import { openMailbox } from '../fixtures/mailbox.ts';
import type { Mailbox } from '../fixtures/mailbox.ts';
import { startTestProvider } from '../fixtures/openid-provider.ts';
import type { TestProvider } from '../fixtures/openid-provider.ts';
import { expect, startApp, test } from './app.ts';
import type { App } from './app.ts';
import { goTo } from './endpoints.ts';
import { logIn, logOut } from './pages.ts';

let app: App;
let mailbox: Mailbox;
let provider: TestProvider;

// One after the other, because they share a server.
test.describe.configure({ mode: 'default' });
test.beforeAll(async () => {
  mailbox = await openMailbox();
  provider = await startTestProvider();
  app = await startApp({ ...provider.settings, SMTP_URL: mailbox.url, DEFAULT_TIER: 'BASIC' });
  provider.serve(app.url);
});
test.afterAll(async () => {
  await app.stop();
  await provider.close();
  await mailbox.close();
});

const heading = (page: Page) => page.getByRole('heading', { name: 'Dashboard' });

async function register(page: Page, username: string, email: string, password: string): Promise<void> {
  await page.goto(`${app.url}/auth?tab=register`);
  for (const [label, value] of [
    ['Username', username],
    ['Email', email],
    ['Password', password],
    ['Confirm Password', password],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole('button', { name: 'Register' }).click();
  await expect(heading(page)).toBeVisible();
}

async function linkInMail(subject: string): Promise<string> {
  const mail = await mailbox.next();
  expect(mail.headers.get('subject')).toBe(subject);
  return /https?:\S+/.exec(mail.text)?.[0] ?? '';
}

test('registers, logs out and in, changes name and password, saves settings, receives email, resets the password', async ({
  page,
}) => {
  const email = 'marta@example.com';
  await register(page, 'marta', email, 'first password');
  await logOut(page, 'marta');
  await logIn(page, 'marta', 'first password');
  await expect(heading(page)).toBeVisible();

  await goTo(page, '/profile');
  await page.getByLabel('Username').fill('marta-two');
  // The page loads again a second later.
  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Update Username' }).click();
  await loaded;
  await expect(page.getByRole('button', { name: 'Account of marta-two' })).toBeVisible();

  await goTo(page, '/profile?tab=security');
  await page.getByLabel('Current password').fill('first password');
  await page.getByLabel('New password', { exact: true }).fill('second password');
  await page.getByLabel('Confirm new password').fill('second password');
  await page.getByRole('button', { name: 'Change Password' }).click();
  await expect(page.getByText('Password updated successfully').first()).toBeVisible();

  await goTo(page, '/settings');
  await page.getByRole('switch').first().click();
  await page.getByRole('button', { name: /Save/ }).click();
  await expect(page.getByText('Settings Saved').first()).toBeVisible();
  await page.getByRole('button', { name: /test email/i }).click();
  await expect(page.getByText('Test Email Sent').first()).toBeVisible();
  expect((await mailbox.next()).to).toEqual([email]);

  await logOut(page, 'marta-two');
  await page.getByRole('button', { name: 'Forgot your password?' }).click();
  await page.getByLabel('Email').fill(email.toUpperCase());
  await page.getByRole('button', { name: 'Send link' }).click();
  await expect(page.getByText('If an account has this address')).toBeVisible();
  await page.goto(await linkInMail('Set a new password for Creel'));
  await page.getByLabel('New password', { exact: true }).fill('third password');
  await page.getByLabel('Confirm new password').fill('third password');
  await page.getByRole('button', { name: 'Set new password' }).click();
  await expect(page.getByText('Your password was changed.')).toBeVisible();
  await goTo(page, '/auth');
  await logIn(page, 'marta-two', 'second password');
  await expect(page.getByText('Invalid username or password').first()).toBeVisible();
  await logIn(page, 'marta-two', 'third password');
  await expect(heading(page)).toBeVisible();
});

test("logs in through the provider's window, returns to the same account, and can decline", async ({ page }) => {
  provider.person = { sub: 'ada-1', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };
  await page.goto(`${app.url}/auth`);
  const opened = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Continue with Acme' }).click();
  const popup = await opened;
  await expect(heading(page)).toBeVisible();
  await expect.poll(() => popup.isClosed()).toBe(true);
  await logOut(page, 'Ada Lovelace');

  await page.getByRole('button', { name: 'Continue with Acme' }).click();
  await expect(page.getByRole('button', { name: 'Account of Ada Lovelace' })).toBeVisible();
  await logOut(page, 'Ada Lovelace');

  // The provider asks only for a login that it does not remember.
  await page.context().clearCookies();
  provider.deny = true;
  await page.getByRole('button', { name: 'Continue with Acme' }).click();
  await expect(page.getByRole('alert')).toContainText('The login was canceled at Acme.');
  provider.deny = false;
});

test('an existing address is linked only after both sides have confirmed it', async ({ page }) => {
  await register(page, 'grace', 'grace@example.com', 'a good password');
  await logOut(page, 'grace');
  provider.person = { sub: 'grace-1', email: 'grace@example.com', email_verified: true, name: 'Grace' };
  await page.getByRole('button', { name: 'Continue with Acme' }).click();
  await expect(page.getByRole('alert')).toContainText('Please log in with your password first');

  await logIn(page, 'grace', 'a good password');
  await expect(heading(page)).toBeVisible();
  await goTo(page, '/profile');
  await page.getByRole('button', { name: 'Send confirmation link' }).click();
  const link = await linkInMail('Confirm your email address for Creel');
  await logOut(page, 'grace');
  await page.goto(link);
  // The link needs a session. After the login, the user is back at the link.
  await logIn(page, 'grace', 'a good password');
  await page.getByRole('button', { name: 'Confirm email' }).click();
  await expect(page.getByText('Your email address is confirmed.')).toBeVisible();
  await goTo(page, '/');
  await logOut(page, 'grace');
  await page.getByRole('button', { name: 'Continue with Acme' }).click();
  await expect(page.getByRole('button', { name: 'Account of grace' })).toBeVisible();
});
