// A session that ended elsewhere: every form says so, keeps the typed text and continues after the login.
import type { Page } from '@playwright/test';
import { actLoggedOut, expect, pressEscape, test, toast } from './app.ts';
import type { Person } from './app.ts';
import { goTo } from './endpoints.ts';
import { logOut } from './pages.ts';

const signedOutDialog = (page: Page) => page.getByRole('dialog', { name: 'You have been logged out' });

interface FormCase {
  readonly name: string;
  readonly open: (page: Page) => Promise<void>;
  /** Typed text by label. */
  readonly typed: (person: Person) => Record<string, string>;
  readonly submit: string;
  /** Waits for the result of the submitted form. */
  readonly done: (page: Page) => Promise<void>;
  /** What the form changes of the user. */
  readonly changes?: (person: Person) => Partial<Person>;
}

const PASSWORD = 'secret1';

/** One user fills them in this order. */
const FORMS: readonly FormCase[] = [
  {
    name: 'settings',
    open: (page) => goTo(page, '/settings'),
    typed: () => ({ Email: 'else@example.com' }),
    submit: 'Save Settings',
    done: (page) => expect(toast(page, 'Settings Saved')).toBeVisible(),
  },
  {
    name: 'new endpoint',
    open: async (page) => {
      await goTo(page, '/');
      await expect(page.getByText('No endpoints yet')).toBeVisible();
      await page.keyboard.press('n');
    },
    typed: () => ({ 'Endpoint Name (Optional)': 'typed before', 'Source/Tag (Optional)': 'Stripe' }),
    submit: 'Create Endpoint',
    done: (page) => expect(page.getByRole('heading', { level: 1, name: 'typed before' })).toBeVisible(),
  },
  {
    name: 'name of an endpoint',
    open: (page) => page.getByRole('button', { name: 'Edit name and source' }).click(),
    typed: () => ({ 'Endpoint Name (Optional)': 'typed again' }),
    submit: 'Save',
    done: (page) => expect(page.getByRole('heading', { level: 1, name: 'typed again' })).toBeVisible(),
  },
  {
    name: 'username',
    open: (page) => goTo(page, '/profile'),
    typed: ({ username }) => ({ Username: `${username}-2` }),
    submit: 'Update Username',
    done: async (page) => {
      await expect(toast(page, 'Username updated successfully')).toBeVisible();
      // The page loads again a second later.
      await expect(toast(page, 'Username updated successfully')).toHaveCount(0);
    },
    changes: ({ username }) => ({ username: `${username}-2` }),
  },
  {
    name: 'password',
    open: (page) => goTo(page, '/profile?tab=security'),
    typed: ({ password }) => ({
      'Current password': password,
      'New password': PASSWORD,
      'Confirm new password': PASSWORD,
    }),
    submit: 'Change Password',
    done: (page) => expect(page.getByLabel('Current password')).toHaveValue(''),
    changes: () => ({ password: PASSWORD }),
  },
  {
    name: 'account to be deleted',
    open: async (page) => {
      await goTo(page, '/profile');
      await page.getByRole('button', { name: 'Delete account' }).click();
    },
    typed: ({ password }) => ({ Password: password }),
    submit: 'Delete account',
    done: (page) => expect(page).toHaveURL(/\/auth$/),
  },
];

/** The topmost dialog, otherwise the page. */
const fieldOf = (page: Page, label: string) => page.getByLabel(label, { exact: true }).last();
const submit = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).last().click();

async function signInAgain(page: Page, { username, password }: Person): Promise<void> {
  await expect(signedOutDialog(page).getByLabel('Username')).toHaveValue(username);
  await expect(signedOutDialog(page).getByLabel('Password')).toBeFocused();
  await signedOutDialog(page).getByLabel('Password').fill(password);
  await signedOutDialog(page).getByRole('button', { name: 'Login' }).click();
  await expect(signedOutDialog(page)).toBeHidden();
}

async function expectTyped(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await expect(fieldOf(page, label)).toHaveValue(value);
}

test('every form keeps the typed text when the session ends', async ({ page, context, person: registered }) => {
  let person = registered;
  await page.goto('/');
  const other = await context.newPage();
  for (const form of FORMS)
    await test.step(`${form.name}: logged out elsewhere or in another tab, the typed text is kept`, async () => {
      const values = form.typed(person);
      await page.bringToFront();
      await form.open(page);
      for (const [label, value] of Object.entries(values)) await fieldOf(page, label).fill(value);
      // The response of the form shows it.
      await actLoggedOut(page, () => submit(page, form.submit));
      await signInAgain(page, person);
      await expectTyped(page, values);
      // The login dialog has reported it.
      await expect(page.getByText('Please log in first.')).toBeHidden();

      await other.goto('/');
      await logOut(other, person.username);
      await page.bringToFront();
      await expect(signedOutDialog(page)).toBeVisible();
      await signInAgain(page, person);
      await expectTyped(page, values);
      await submit(page, form.submit);
      await form.done(page);
      person = { ...person, ...form.changes?.(person) };
    });
});

test('a visitor can continue without logging in, and is asked again at an action that needs it', async ({
  page,
  person,
}) => {
  await page.goto('/settings');
  await expect(page.getByLabel('Email', { exact: true })).toBeEnabled();
  await actLoggedOut(page, () => page.getByRole('button', { name: 'Save Settings' }).click());
  await expect(signedOutDialog(page)).toBeVisible();
  await pressEscape(page);
  await expect(signedOutDialog(page)).toBeHidden();

  await expect(page.getByText('Sign in to enable email notifications')).toBeVisible();
  await expect(page.getByRole('switch', { name: 'Endpoint expiry' })).toBeDisabled();
  await expect(page.getByRole('switch', { name: 'Subscription changes' })).toBeDisabled();
  await expect(page.getByLabel('Email', { exact: true })).toBeDisabled();
  await page.getByRole('switch', { name: 'Autosave new endpoints' }).click();
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expect(toast(page, 'Your preferences have been saved locally.')).toBeVisible();
  expect(await page.evaluate('JSON.parse(localStorage.userSettings).autoSaveNewEndpoints')).toBe(true);

  // Background calls of a screen do not ask for a login again. Actions of the user do.
  const asked = page.waitForResponse('**/api/search?*');
  await page.getByRole('link', { name: 'Search' }).click();
  await page.getByRole('combobox', { name: 'Search requests' }).fill('anything');
  await page.keyboard.press('Enter');
  expect((await asked).status()).toBe(401);
  await expect(page.getByRole('main').getByRole('alert')).toBeVisible();
  await expect(signedOutDialog(page)).toBeHidden();
  await page.getByRole('combobox', { name: 'Search requests' }).blur();
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByRole('button', { name: 'Create Endpoint' }).click();
  await expect(signedOutDialog(page)).toBeVisible();
  await pressEscape(page);
  await expect(signedOutDialog(page)).toBeHidden();
  await pressEscape(page);

  await page.getByRole('button', { name: 'Account', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Sign In' }).click();
  await logInAndReturn(page, person);

  // The dialog leads to the login page, too.
  await actLoggedOut(page, async () => {
    await page.getByRole('button', { name: 'Create Endpoint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create Endpoint' }).click();
  });
  await signedOutDialog(page).getByRole('link', { name: 'Go to the login page instead' }).click();
  await logInAndReturn(page, person);
});

/** Logs in on the login page, which returns to the search. */
async function logInAndReturn(page: Page, person: Person): Promise<void> {
  await expect(page).toHaveURL(/\/auth$/);
  await page.getByLabel('Username').fill(person.username);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Login' }).click();
  await expect(page.getByRole('button', { name: `Account of ${person.username}` })).toBeVisible();
  await expect(page).toHaveURL(/\/search\?q=anything$/);
  await expect(signedOutDialog(page)).toBeHidden();
}

test('what failed without a session is loaded after the login, also if its dialog was closed before', async ({
  page,
  person,
  endpoint,
}) => {
  await page.goto('/settings');
  await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible();
  await expect(page.getByRole('link', { name: /^Journey/ })).toBeVisible();
  await page.request.post('/api/logout');
  // Not a click of the pointer, because another read may have opened the dialog already.
  await page.getByRole('link', { name: /^Journey/ }).dispatchEvent('click');
  await expect(signedOutDialog(page)).toBeVisible();
  await pressEscape(page);
  await expect(signedOutDialog(page)).toBeHidden();
  // A failed part of a page asks again, like a failed page.
  await goTo(page, '/profile?tab=security');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(signedOutDialog(page)).toBeVisible();
  await pressEscape(page);
  await expect(signedOutDialog(page)).toBeHidden();
  await page.goBack();
  await page.getByRole('button', { name: 'Try again' }).click();
  await signedOutDialog(page).getByLabel('Password').fill(person.password);
  await signedOutDialog(page).getByRole('button', { name: 'Login' }).click();
  await expect(page.getByText(endpoint.url).first()).toBeVisible();
  await expect(page.getByText('No requests received yet.')).toBeVisible();
});
