// The main journey without a pointer, from the registration to the logout.
import type { Locator, Page } from '@playwright/test';
import { drawn, expect, notifications, pressEscape, test, toast } from './app.ts';
import { detailsOf, filterField, list, openLive, row, sendJson } from './endpoints.ts';
import { allowClipboard, clipboard } from './pages.ts';

test.use({ contextOptions: { reducedMotion: 'no-preference' } });

/** Presses Tab until an element has the focus. Fails after more presses than any page has focusable elements. */
async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element.ownerDocument.activeElement === element)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reached ${target.toString()}.`);
}

async function fill(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.type(text);
}

test('the main journey with the keyboard alone', async ({ page, context }) => {
  await allowClipboard(context);
  const username = `keys-${Date.now()}`;
  await page.goto('/auth');
  await tabTo(page, page.getByRole('tab', { name: 'Login' }));
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Register', selected: true })).toBeVisible();
  await expect(page.getByLabel('Confirm Password')).toBeVisible();
  await fill(page, 'Username', username);
  await fill(page, 'Email', `${username}@example.com`);
  await fill(page, 'Password', 'secret1');
  await fill(page, 'Confirm Password', 'secret1');
  await page.keyboard.press('Enter');
  await expect(page.getByText('No endpoints yet')).toBeVisible();

  await page.keyboard.press('n');
  await expect(page.getByLabel('Endpoint Name (Optional)')).toBeFocused();
  await page.keyboard.type('By hand');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'By hand' })).toBeVisible();
  await tabTo(
    page,
    page.getByRole('region', { name: 'Endpoint URL' }).getByRole('button', { name: 'Copy', exact: true }),
  );
  await page.keyboard.press('Enter');
  await expect(page.getByText('URL Copied!').first()).toBeVisible();
  const captureUrl = await clipboard(page);

  for (let at = 0; at < 3; at++) await sendJson(captureUrl, { at, needle: 'haystack' }, `/order/${at}?at=${at}`);
  await expect(row(page, 2)).toBeVisible();
  await lookThrough(page);
  await searchAndReturn(page);

  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await pressEscape(page);
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await tabTo(page, page.getByRole('main').getByRole('button', { name: 'Delete', exact: true }).first());
  await page.keyboard.press('Enter');
  const ask = page.getByRole('alertdialog', { name: 'Delete Webhook Endpoint' });
  await tabTo(page, ask.getByRole('button', { name: 'Delete' }));
  await page.keyboard.press('Enter');
  await expect(page.getByText('No endpoints yet')).toBeVisible();

  await tabTo(page, page.getByRole('button', { name: `Account of ${username}` }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.press('End');
  await expect(page.getByRole('menuitem', { name: 'Logout' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/auth$/);
});

test('the focus stays with the messages until the last one closes, and returns to where it was', async ({
  page,
  person: _,
  endpoint,
}) => {
  for (let at = 0; at < 4; at++) await sendJson(endpoint.url, { at });
  await openLive(page, endpoint);
  await tabTo(page, list(page));
  await page.keyboard.press('End');
  await expect(row(page, 0)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Home');
  await expect(row(page, 3)).toHaveAttribute('aria-selected', 'true');
  for (const key of ['x', 'ArrowDown', 'x']) await page.keyboard.press(key);
  page.on('dialog', (dialog) => void dialog.accept());
  await page.keyboard.press('Delete');
  await expect(row(page, 3)).toHaveCount(0);
  await page.keyboard.press('F8');
  await tabTo(page, page.getByRole('button', { name: 'Undo' }));
  await page.keyboard.press('Enter');
  await expect(row(page, 3)).toBeVisible();
  await expect(list(page)).toBeFocused();

  await page.keyboard.press('s');
  await expect(toast(page, 'Request saved')).toBeVisible();
  await page.keyboard.press('F8');
  await pressEscape(page);
  await expect(toast(page, 'Request saved')).toHaveCount(0);
  await expect(list(page)).toBeFocused();
  await page.keyboard.press('F8');
  await expect(list(page), 'F8 without a message').toBeFocused();

  await page.keyboard.press('Delete');
  await expect(toast(page, 'Request deleted')).toBeVisible();
  await page.keyboard.press('F8');
  await expect(notifications(page).getByRole('list'), 'the outline of the focus').toHaveCSS('outline-style', 'solid');
  const message = notifications(page).getByRole('listitem');
  await tabTo(page, message);
  await page.keyboard.press('s');
  await expect(toast(page, 'Request saved')).toBeVisible();
  await expect(message, 'the message that replaced the focused one').toBeFocused();
  await pressEscape(page);
  await expect(list(page)).toBeFocused();
});

test('single-key shortcuts can be turned off, for speech input', async ({ page, person: _ }) => {
  await page.goto('/');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  const turn = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await help.getByRole('switch', { name: 'Single-key shortcuts' }).click();
    await pressEscape(page);
    await expect(help).toHaveCount(0);
  };
  const hint = page.locator('kbd').getByText('?', { exact: true });
  await expect(hint).toBeVisible();
  await turn();
  await page.reload();
  await expect(page.getByText('No endpoints yet')).toBeVisible();
  await expect(hint, 'keys that are off are not shown').toHaveCount(0);
  await page.keyboard.press('n');
  await drawn(page);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog', { name: 'Command palette' })).toBeVisible();
  await pressEscape(page);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await turn();
  await page.keyboard.press('n');
  await expect(page.getByRole('dialog', { name: 'Create Endpoint' })).toBeVisible();
});

/** Moves up and down the list, through the tabs, and saves the request. */
async function lookThrough(page: Page): Promise<void> {
  await expect(row(page, 0)).toBeVisible();
  await page.keyboard.press('j');
  const before = page.locator('[role="row"][aria-selected="true"]');
  await expect(before).toHaveCount(1);
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await expect(row(page, 2)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('j');
  await expect(row(page, 1)).toHaveAttribute('aria-selected', 'true');
  const details = detailsOf(page, 1);
  for (const [key, name] of [
    ['2', 'Headers'],
    ['3', 'Query Params'],
    ['4', 'Raw'],
    ['1', 'JSON'],
  ] as const) {
    await page.keyboard.press(key);
    await expect(details.getByRole('tab', { name })).toHaveAttribute('data-state', 'active');
  }
  await expect(details.getByRole('tree', { name: 'Body as JSON' }).getByText('"haystack"')).toBeVisible();
  await page.keyboard.press('s');
  await expect(details.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  await expect(row(page, 1)).not.toContainText('Unsaved');
  await page.keyboard.press('c');
  await expect(page.getByText('Content Copied').first()).toBeVisible();
  await expect.poll(() => clipboard(page)).toContain('/order/1?at=1');
}

/** Filters the list with `/`, then searches all endpoints from the palette and opens a result. */
async function searchAndReturn(page: Page): Promise<void> {
  await page.keyboard.press('/');
  await expect(filterField(page)).toBeFocused();
  await page.keyboard.type('order/0');
  await expect(row(page, 1)).toHaveCount(0);
  await expect(row(page, 0)).toBeVisible();
  await pressEscape(page);
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('haystack');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/search\?q=haystack/);
  await tabTo(page, page.getByRole('main').getByRole('link', { name: /order\/2/ }));
  await page.keyboard.press('Enter');
  await expect(detailsOf(page, 2)).toBeVisible();
}
