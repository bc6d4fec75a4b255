// Profile, password, settings and plan, with the messages for failed calls.
import { expect, notifications, test, toast } from './app.ts';
import { expectShownWhole, goTo } from './endpoints.ts';
import { answerWith, holdCalls } from './pages.ts';

test.use({ tier: 'BASIC' });

test('a username and a password are changed once they are valid', async ({ page, person }) => {
  await test.step('a rejected username is reported at its field', async () => {
    await page.goto('/profile');
    const field = page.getByLabel('Username');
    for (const [status, sentence] of [
      [400, 'Username already exists or is invalid'],
      [500, 'Failed to update username'],
    ] as const) {
      await answerWith(page, '**/api/profile/username', status);
      await field.fill(`${person.username}-${status}`);
      await page.getByRole('button', { name: 'Update Username' }).click();
      await expect(field).toHaveAccessibleDescription(sentence);
      await expect(field).toBeFocused();
    }
  });

  await test.step('a password needs all three fields, twice the same, and the current one', async () => {
    await goTo(page, '/profile?tab=security');
    const change = async (current: string, next: string, again: string): Promise<void> => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password', { exact: true }).fill(next);
      await page.getByLabel('Confirm new password').fill(again);
      await page.getByRole('button', { name: 'Change Password' }).click();
    };
    await change(person.password, '', '');
    await expect(page.getByText('All password fields are required').first()).toBeVisible();
    await change(person.password, 'secret1', 'secret2');
    await expect(page.getByText('New passwords do not match')).toBeVisible();
    await change(person.password, 'short', 'short');
    await expect(page.getByText('New password must be at least 6 characters long')).toBeVisible();
    await change('not the one', 'secret1', 'secret1');
    await expect(page.getByText('Current password is incorrect')).toBeVisible();
    await expect(page.getByLabel('Current password')).toBeFocused();
    await change(person.password, 'secret1', 'secret1');
    await expect(notifications(page).getByRole('listitem')).toBeVisible();
    await expect(page.getByLabel('Current password')).toHaveValue('');
  });

  await test.step('a username is changed once it differs, and the page loads again', async () => {
    await page.unrouteAll();
    await goTo(page, '/profile');
    const button = page.getByRole('button', { name: 'Update Username' });
    await expect(button).toBeDisabled();
    await page.getByLabel('Username').fill(` ${person.username} `);
    await expect(button).toBeDisabled();
    await page.getByLabel('Username').fill(' ab ');
    await button.click();
    await expect(page.getByLabel('Username')).toHaveAccessibleDescription('Username must be at least 3 characters');
    await page.getByLabel('Username').fill(`  ${person.username}-2  `);
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    let loads = 0;
    page.on('load', () => loads++);
    await button.click();
    await expect(toast(page, 'Username updated successfully')).toBeVisible();
    await page.clock.runFor(900);
    expect(loads).toBe(0);
    await page.clock.runFor(200);
    await expect.poll(() => loads).toBe(1);
    await page.clock.resume();
    await expect(page.getByRole('button', { name: `Account of ${person.username}-2` })).toBeVisible();
  });
});

test('settings, the test mail, the plan, and the end of the account', async ({ page, person }) => {
  await test.step('the plan is named in the profile and among the plans', async () => {
    await page.goto('/profile?tab=subscription');
    await expect(page.getByRole('tabpanel').getByText('Basic Plan', { exact: true })).toBeVisible();
    await goTo(page, '/subscription');
    await expect(page.getByRole('heading', { level: 1, name: 'Subscription' })).toBeVisible();
    await expect(page.getByText('$5 per month', { exact: true })).toBeVisible();
    await page.getByRole('radio', { name: 'Yearly Save 17%' }).click();
    await expect(page.getByText('$100 per year')).toBeVisible();
    await expect(page.getByText('$8.33 per month, 17% less')).toBeVisible();
  });

  await test.step('a test mail that fails says why', async () => {
    await goTo(page, '/settings');
    await page.getByRole('button', { name: 'Send Test Email' }).click();
    await expect(toast(page, 'Email Configuration Error')).toBeVisible();
    await expect(toast(page, 'Failed to send test email. Please check SMTP server settings.')).toBeVisible();
    await answerWith(page, '**/api/test-email', 200, { success: true, message: 'Sent.' });
    await page.getByRole('button', { name: 'Send Test Email' }).click();
    await expect(toast(page, 'Test Email Sent')).toBeVisible();
  });

  await test.step('the second press of a double click does nothing', async () => {
    const calls = await holdCalls(page, '**/api/test-email');
    const button = page.getByRole('button', { name: 'Send Test Email' });
    await button.focus();
    await Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')]);
    await expect(page.getByRole('button', { name: 'Sending…' })).toBeVisible();
    calls.release();
    await expect(button).toBeEnabled();
    expect(calls.count()).toBe(1);
  });

  await test.step('settings need a valid address while a notice is on, and are saved', async () => {
    const email = page.getByLabel('Email', { exact: true });
    const save = page.getByRole('button', { name: 'Save Settings' });
    await page.getByRole('switch', { name: 'Endpoint expiry' }).click();
    await email.fill('nowhere');
    await save.click();
    await expect(toast(page, 'Invalid Email')).toBeVisible();
    await expect(page.getByText('Please enter a valid email address')).toBeVisible();
    await expect(email).toHaveAccessibleDescription(/Please enter a valid email address/);
    await expect(email).toBeFocused();
    await page.getByRole('switch', { name: 'Endpoint expiry' }).click();
    await email.fill('');
    await page.getByRole('switch', { name: 'Autosave new endpoints' }).click();
    await save.click();
    await expect(toast(page, 'Settings Saved')).toBeVisible();
    await expect(toast(page, 'Your preferences have been updated successfully.')).toBeVisible();
    await page.reload();
    await expect(page.getByRole('switch', { name: 'Autosave new endpoints' })).toBeChecked();
    await expect(email).toHaveValue('');
    expect(await page.evaluate('JSON.parse(localStorage.userSettings).autoSaveNewEndpoints')).toBe(true);

    await answerWith(page, '**/api/user/settings', 500);
    await save.click();
    await expect(toast(page, 'Failed to save settings. Please try again.')).toBeVisible();
  });

  await test.step('the account is deleted with its subscription', async () => {
    await goTo(page, '/profile');
    await page.getByRole('button', { name: 'Delete account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete account' });
    await expect(dialog).toContainText('Your subscription ends now.');
    await dialog.getByLabel('Password').fill(person.password);
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await expect(toast(page, 'Account deleted')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Login' })).toBeVisible();
  });
});

test('the profile shows a long email whole', async ({ page, person }) => {
  const email = `${'long'.repeat(16)}@${'domain.'.repeat(20)}example`;
  await answerWith(page, '**/api/user', 200, { ...person.user, email });
  await page.goto('/profile');
  await expectShownWhole(page.getByRole('main'), email);
});

test('failed calls of the login page show their messages', async ({ page }) => {
  await answerWith(page, '**/api/login', 500);
  await answerWith(page, '**/api/register', 500);
  await page.goto('/auth');
  await page.getByLabel('Username').fill('marta');
  await page.getByLabel('Password').fill('secret1');
  await page.getByRole('button', { name: 'Login' }).click();
  await expect(page.getByText('Login failed')).toBeVisible();
  await page.route('**/api/login', (call) => call.abort());
  await page.getByRole('button', { name: 'Login' }).click();
  await expect(page.getByText('Login failed. The server could not be reached.')).toBeVisible();
  await goTo(page, '/auth?tab=register');
  await page.getByLabel('Username').fill('marta');
  await page.getByLabel('Email').fill('marta@example.com');
  await page.getByLabel('Password', { exact: true }).fill('secret1');
  await page.getByLabel('Confirm Password').fill('secret1');
  await page.getByRole('button', { name: 'Register' }).click();
  await expect(page.getByText('Registration failed')).toBeVisible();
});

test('a user that failed to load does not count as logged out', async ({ page, person }) => {
  await answerWith(page, '**/api/user', 500);
  await page.goto('/');
  await expect(page.getByText('Failed to fetch user data.')).toBeVisible();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('button', { name: `Account of ${person.username}` })).toBeVisible();
  await answerWith(page, '**/api/logout', 500);
  await page.getByRole('button', { name: `Account of ${person.username}` }).click();
  await page.getByRole('menuitem', { name: 'Logout' }).click();
  await expect(toast(page, 'Logout failed')).toBeVisible();
});
