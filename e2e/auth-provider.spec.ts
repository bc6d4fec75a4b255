// Third-party login in the page: the login window and its outcomes. The provider is a stub. Tests of the server check what it does with
// an identity.
import type { Page, Route } from '@playwright/test';
import { expect, test } from './app.ts';
import { answerWith, changeAnswer, problem } from './pages.ts';

const START = '/auth/oidc/start';
const CALLBACK = '<!doctype html><title>Signing in</title><script src="/callback.js"></script>';

const offerProvider = (page: Page, more: { readonly publicUrl?: string } = {}) =>
  changeAnswer(page, '**/api/service', { signIn: { name: 'Google', startUrl: START }, ...more });

/** The page in the login window. It posts `message` to its opener. */
async function callbackTells(page: Page, message: unknown): Promise<void> {
  const tell = `opener.postMessage(${JSON.stringify(message)}, location.origin)`;
  await page
    .context()
    .route(`**${START}?*`, (route: Route) => route.fulfill({ contentType: 'text/html', body: CALLBACK }));
  await page
    .context()
    .route('**/callback.js', (route: Route) => route.fulfill({ contentType: 'text/javascript', body: tell }));
}

const button = (page: Page) => page.getByRole('button', { name: 'Continue with Google' });

test('without a provider the button is disabled and says why', async ({ page }) => {
  await page.goto('/auth');
  await expect(button(page)).toBeDisabled();
  await expect(button(page)).toHaveAccessibleDescription('Login with Google is not set up on this server.');
});

test('the login window reports to the page, and the server decides', async ({ page }) => {
  await offerProvider(page);
  await page.goto('/auth');

  await test.step('the page sends the identity from the window to the server, which decides', async () => {
    await callbackTells(page, { type: 'creel-sign-in', identity: { email: 'marta@example.com', uid: '42' } });
    const sent: unknown[] = [];
    await page.route('**/api/google-login', async (route) => {
      sent.push(route.request().postDataJSON());
      const sentence = 'No email provided from Google account';
      await route.fulfill({ status: 400, json: problem(sentence, 'VALIDATION_FAILED') });
    });
    await button(page).click();
    await expect(page.getByRole('alert')).toHaveText('No email provided from Google account');
    expect(sent).toEqual([{ email: 'marta@example.com', uid: '42', displayName: 'marta' }]);
  });

  await test.step('a server that rejects without a message: Google sign-in failed', async () => {
    await callbackTells(page, { type: 'creel-sign-in', identity: { email: 'marta@example.com', uid: '42' } });
    await answerWith(page, '**/api/google-login', 500);
    await button(page).click();
    await expect(page.getByRole('alert')).toHaveText('Google sign-in failed');
  });

  await test.step('each problem that the window reports is shown as a sentence', async () => {
    for (const [reported, sentence] of [
      ['network-request-failed', 'The login provider could not be reached.'],
      ['popup-closed-by-user', 'The login window was closed before you had logged in.'],
      ['unauthorized-domain', 'This address is not allowed to log in with the provider.'],
      ['something-else', 'Google sign-in failed'],
    ] as const) {
      await callbackTells(page, { type: 'creel-sign-in', problem: reported });
      await button(page).click();
      await expect(page.getByRole('alert'), reported).toContainText(sentence);
    }
  });

  await test.step('a blocked window is reported immediately', async () => {
    await page.evaluate('globalThis.open = () => null');
    await button(page).click();
    await expect(page.getByRole('alert')).toContainText('The browser blocked the login window.');
  });
});

test('a closed window is given up after 8 seconds, not before', async ({ page }) => {
  await offerProvider(page);
  await page.clock.install();
  await page.context().route(`**${START}?*`, (route) => route.fulfill({ contentType: 'text/html', body: 'Provider' }));
  await page.goto('/auth');
  await expect(button(page)).toBeEnabled();
  // Otherwise the time of a busy machine counts too.
  await page.clock.pauseAt(Date.now() + 60_000);
  const [popup] = await Promise.all([page.waitForEvent('popup'), button(page).click()]);
  expect(popup.url()).toContain(START);
  const waiting = page.getByRole('button', { name: 'Waiting for the login window…' });
  // A login in another tab, which ends in this moment.
  await page.evaluate(
    "new BroadcastChannel('creel-sign-in').postMessage({ type: 'creel-sign-in', flow: 'other', problem: 'failed' })",
  );
  await popup.close();
  await page.clock.runFor(7900);
  await expect(waiting).toBeVisible();
  await page.clock.runFor(1000);
  await expect(page.getByRole('alert')).toContainText('The login window was closed before you had logged in.');
  await expect(button(page)).toBeEnabled();
});

test('on a URL other than the public one, the window does not open', async ({ page }) => {
  await offerProvider(page, { publicUrl: 'https://hooks.example.com' });
  await page.goto('/auth');
  await button(page).click();
  await expect(page.getByRole('alert')).toContainText('This address is not allowed to log in with the provider.');
});
