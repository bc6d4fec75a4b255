// Where the focus moves when what has it is removed, or when a key closes something.
import type { Page } from '@playwright/test';
import { drawn, expect, pressEscape, test } from './app.ts';
import {
  createDestination,
  createEndpoint,
  detailsOf,
  goLive,
  goTo,
  list,
  openLive,
  row,
  selectionBar,
  sendJson,
} from './endpoints.ts';
import { DESKTOP, holdCalls } from './pages.ts';
import { openReplay } from './replay.ts';

test.use({ tier: 'PREMIUM' });

test('the focus moves to where it can be seen when what has it is removed', async ({ page, endpoint }) => {
  for (let at = 0; at < 3; at++) await sendJson(endpoint.url, { at });
  await openLive(page, endpoint);

  await test.step('from a tab of the details to the chosen tab of the next request', async () => {
    await detailsOf(page, 2).getByRole('tab', { name: 'JSON' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect(detailsOf(page, 2).getByRole('tab', { name: 'Headers', selected: true })).toBeFocused();
    for (const index of [1, 0]) {
      await page.keyboard.press('j');
      const tab = detailsOf(page, index).getByRole('tab', { name: 'Headers' });
      await expect(tab).toBeFocused();
      await expect(tab).toHaveCSS('outline-style', 'solid');
    }
    await detailsOf(page, 0).getByRole('button', { name: 'Copy as cURL' }).focus();
    await page.keyboard.press('k');
    await expect(detailsOf(page, 1).getByRole('tab', { name: 'Headers' })).toBeFocused();
  });

  await test.step('from the button that discards the changes of a replay to the one that opens the form', async () => {
    await openReplay(page, endpoint, 0, goLive);
    await page.getByLabel('Destination URL').fill('http://127.0.0.1:9/changed');
    await page.getByRole('button', { name: 'Discard changes' }).press('Enter');
    await expect(page.getByRole('button', { name: 'Replay Request' })).toBeFocused();
  });

  await test.step('from the button that cancels a replay to the one that sends it, when the response arrives', async () => {
    const replay = await holdCalls(page, '**/api/replay');
    await page.getByLabel('Destination URL').fill('http://127.0.0.1:9');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Cancel' }).focus();
    replay.release();
    await expect(page.getByRole('button', { name: 'Send Request' })).toBeFocused();
  });

  await test.step('from the button that resumes a destination to its switch', async () => {
    const path = `/api/endpoints/${endpoint.uid}/destinations`;
    const paused = { name: 'paused', since: new Date().toISOString(), reason: 'It failed.' };
    const destination = await createDestination(page, endpoint, { url: 'http://127.0.0.1:9' });
    let isPaused = true;
    const json = [{ ...destination, state: paused }];
    await page.route(`**${path}`, (route) => (isPaused ? route.fulfill({ json }) : route.fallback()));
    await page.route(`**${path}/*`, (route) => {
      isPaused = false;
      return route.fallback();
    });
    // The page may know of the pause already.
    await page.getByRole('button', { name: /^Forward( \(a destination is paused\))?$/ }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Forward' });
    const resume = dialog.getByRole('button', { name: 'Resume' });
    await expect(resume).toBeVisible();
    await resume.press('Enter');
    await expect(resume).toHaveCount(0);
    await expect(dialog.getByRole('switch')).toBeFocused();
    await page.request.delete(`${path}/${destination.id}`);
    await pressEscape(page);
    await expect(dialog).toHaveCount(0);
  });

  await test.step('from a deleted destination to the button that adds one', async () => {
    for (const path of ['a', 'b'])
      await createDestination(page, endpoint, { url: `http://127.0.0.1:9/${path}`, enabled: false });
    await page.getByRole('button', { name: 'Forward', exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Forward' });
    await expect(dialog.getByRole('switch')).toHaveCount(2);
    for (const left of [1, 0]) {
      await dialog.getByRole('button', { name: 'Delete destination' }).first().press('Enter');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).press('Enter');
      await expect(dialog.getByRole('switch')).toHaveCount(left);
      await expect(dialog.getByRole('button', { name: 'Add destination' })).toBeFocused();
    }
  });

  await test.step('from a dialog that a press outside closes to what opened it', async () => {
    const opener = page.getByRole('button', { name: 'Forward', exact: true });
    await pressEscape(page);
    await opener.click();
    await expect(page.getByRole('dialog').getByRole('tab', { selected: true })).toBeFocused();
    await pressOutside(page);
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(opener).toBeFocused();

    await page.getByRole('button', { name: 'Clear Data' }).click();
    await pressOutside(page);
    await expect(page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' })).toBeFocused();
    await pressEscape(page);
    await expect(page.getByRole('alertdialog')).toHaveCount(0);
  });
});

test('Escape closes the suggestions of a field before its dialog', async ({ page, person: _ }) => {
  const endpoint = await createEndpoint(page);
  for (let at = 0; at < 2; at++) await sendJson(endpoint.url, { at });
  await openLive(page, endpoint);
  const suggestions = page.getByRole('listbox', { name: 'Suggestions' });
  const question = page.getByRole('alertdialog', { name: 'Discard changes?' });

  await test.step('in the form of a destination, which keeps what was typed', async () => {
    await page.getByRole('button', { name: 'Forward', exact: true }).click();
    await page.getByRole('button', { name: 'Add destination' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add destination' });
    await dialog.getByLabel('URL').fill('http://127.0.0.1:9/typed');
    await dialog.getByRole('combobox', { name: 'Condition' }).pressSequentially('me');
    await expect(suggestions).toBeVisible();
    await drawn(page);
    await page.keyboard.press('Escape');
    await expect(suggestions).toHaveCount(0);
    await expect(dialog.getByLabel('URL')).toHaveValue('http://127.0.0.1:9/typed');
    const condition = dialog.getByRole('combobox', { name: 'Condition' });
    await expect(condition).toHaveValue('me');
    // A press outside, and the Escape that ends the composition of an input method.
    await page.mouse.click(2, 2);
    await condition.dispatchEvent('keydown', { key: 'Escape', isComposing: true });
    await drawn(page);
    await expect(condition).toHaveValue('me');
    await page.keyboard.press('Escape');
    await expect(question.getByRole('button', { name: 'Keep editing' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(condition).toBeFocused();
    await expect(condition).toHaveValue('me');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await question.getByRole('button', { name: 'Discard' }).click();
    await expect(dialog).toHaveCount(0);
  });

  await test.step('a secret that was entered is discarded only after a question', async () => {
    await page.getByRole('button', { name: 'Signing secret' }).click();
    const dialog = page.getByRole('dialog', { name: 'Signing secret' });
    const secret = dialog.getByLabel('Secret', { exact: true });
    await secret.fill('pasted');
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await expect(secret).toHaveValue('pasted');
    await secret.fill('');
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  });

  await test.step('Enter closes them, and submits the form when there are none', async () => {
    await page.getByRole('button', { name: 'Forward', exact: true }).click();
    // Nothing was typed.
    await page.mouse.click(2, 2);
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.getByRole('button', { name: 'Forward', exact: true }).click();
    await page.getByRole('button', { name: 'Add destination' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add destination' });
    await dialog.getByRole('combobox', { name: 'Condition' }).pressSequentially('me');
    await expect(suggestions).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(suggestions).toHaveCount(0);
    await expect(dialog.getByLabel('URL')).not.toHaveAttribute('aria-invalid', 'true');
    await page.keyboard.press('Enter');
    await expect(dialog.getByLabel('URL')).toHaveAttribute('aria-invalid', 'true');
    await pressEscape(page);
    await question.getByRole('button', { name: 'Discard' }).click();
    await expect(dialog).toHaveCount(0);
  });

  await test.step('in the choice of a request to compare with', async () => {
    await goTo(page, `/endpoints/${endpoint.uid}?request=1&compare=0`);
    await page.getByRole('button', { name: 'Change the left request' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose the left request' });
    await dialog.getByRole('combobox').pressSequentially('pa');
    await expect(suggestions).toBeVisible();
    await drawn(page);
    await page.keyboard.press('Escape');
    await expect(suggestions).toHaveCount(0);
    await expect(dialog).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  });
});

test('a button that removes itself leaves the focus to its card', async ({ page, person, playwright, app }) => {
  await test.step('after all other sessions have ended', async () => {
    const elsewhere = await playwright.request.newContext({ baseURL: app.url });
    const { username, password } = person;
    expect((await elsewhere.post('/api/login', { data: { username, password } })).status()).toBe(200);
    await elsewhere.dispose();
    await page.goto('/profile?tab=security');
    await page.getByRole('button', { name: 'Log out everywhere else' }).press('Enter');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Log out' }).press('Enter');
    await expectCardFocused(page, 'Sessions');
  });

  await test.step('after the subscription is canceled', async () => {
    await goTo(page, '/subscription');
    await page.getByRole('button', { name: 'Cancel subscription' }).press('Enter');
    const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Cancel subscription' });
    await expect(confirm).toBeEnabled();
    await confirm.press('Enter');
    await expectCardFocused(page, 'Free');
  });
});

test('the focus of a whole part of the page can be seen', async ({ page, endpoint }) => {
  for (let at = 0; at < 3; at++) await sendJson(endpoint.url, { at });
  await openLive(page, endpoint);
  const focused = page.locator(':focus');

  await test.step('in the comparison', async () => {
    for (const index of [1, 0]) await row(page, index).click({ modifiers: ['Control'] });
    await selectionBar(page).getByRole('button', { name: 'Compare' }).press('Enter');
    const compare = page.getByRole('region', { name: 'Compare requests' });
    await expect(compare).toBeFocused();
    await expect(compare).toHaveCSS('outline-style', 'solid');
    await compare.getByRole('button', { name: 'Back' }).press('Enter');
    await expect(list(page)).toBeFocused();
  });

  await test.step('in the details over the list', async () => {
    await page.setViewportSize({ width: 900, height: 800 });
    await list(page).press('ArrowDown');
    await expect(focused.filter({ has: detailsOf(page, 2) })).toHaveCSS('outline-style', 'solid');
    // A page that opens with them shows none.
    await page.reload();
    await expect(detailsOf(page, 2)).toBeVisible();
    await expect(focused).toHaveCount(0);
  });

  await test.step('in the main part after a navigation, and in the login page', async () => {
    await page.setViewportSize(DESKTOP);
    await goTo(page, '/settings');
    await page.getByRole('link', { name: 'Back to Dashboard' }).press('Enter');
    await expect(page.getByRole('main')).toBeFocused();
    await expect(page.getByRole('main')).toHaveCSS('outline-style', 'solid');
    await page.getByRole('button', { name: /^Account of/ }).press('Enter');
    await page.getByRole('menuitem', { name: 'Logout' }).press('Enter');
    await expect(page.getByLabel('Password')).toBeVisible();
    await expect(page.getByRole('main')).toBeFocused();
    await expect(page.getByRole('main')).toHaveCSS('outline-style', 'solid');
  });
});

/** Expects that the part with this heading has the focus, with its outline. */
async function expectCardFocused(page: Page, name: string): Promise<void> {
  const card = page.locator(':focus-visible').filter({ has: page.getByRole('heading', { name, exact: true }) });
  await expect(card).toHaveCSS('outline-style', 'solid');
}

/** Presses and releases the mouse on what covers the page behind a dialog, as slowly as a user. */
async function pressOutside(page: Page): Promise<void> {
  await page.mouse.move(2, 2);
  await page.mouse.down();
  await drawn(page);
  await page.mouse.up();
}
