// What a screen reader announces: pages, matches, the connection, and the state of rows and buttons.
import type { Page } from '@playwright/test';
import { expect, pressEscape, test } from './app.ts';
import { createEndpoint, detailsOf, filterField, goLive, openLive, row, sendJson } from './endpoints.ts';

/** Notes each text that an element with a status gets. */
const noteStatuses = (page: Page): Promise<void> =>
  page.evaluate(`
    globalThis.announced = [];
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const status = (target.nodeType === Node.TEXT_NODE ? target.parentElement : target).closest('[role=status]');
        if (status !== null && status.textContent !== '') globalThis.announced.push(status.textContent);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });`);

/** How often a text was noted. */
const timesAnnounced = async (page: Page, text: string): Promise<number> => {
  const announced: string[] = await page.evaluate('globalThis.announced');
  return announced.filter((each) => each === text).length;
};

test('a screen reader hears what changes', async ({ page, endpoint }) => {
  await sendJson(endpoint.url, { at: 0 });
  await sendJson(endpoint.url, { at: 1 });
  await openLive(page, endpoint);
  await expect(row(page, 1)).toBeVisible();
  await noteStatuses(page);

  await test.step('the page that a link in the sidebar opens, while the focus stays on the link', async () => {
    const link = page.getByRole('link', { name: 'Settings' });
    await link.press('Enter');
    await expect.poll(() => timesAnnounced(page, 'Settings')).toBe(1);
    await expect(link).toBeFocused();
    // The text is removed, or a search in the page would find it twice.
    await expect(page.getByRole('status').filter({ hasText: /^Settings$/ })).toHaveCount(0);
  });

  await test.step('that the keyboard is on a selected row', async () => {
    await goLive(page, endpoint);
    await row(page, 1).click();
    await expect(detailsOf(page, 1)).toBeVisible();
    await page.keyboard.press('x');
    await expect(row(page, 1)).toHaveAccessibleName(/^Checked POST /);
    await page.keyboard.press('x');
    await expect(row(page, 1)).toHaveAccessibleName(/^POST /);
  });

  await test.step('no selection in the JSON of the details, which would interrupt each row', async () => {
    const tree = detailsOf(page, 1).getByRole('tree', { name: 'Body as JSON' });
    await expect(tree.getByRole('treeitem')).toHaveCount(3);
    await expect(tree.locator('[aria-selected]')).toHaveCount(0);
  });

  await test.step('the matches of each query, also if their number is the same', async () => {
    await filterField(page).fill('nothing-like-it');
    await expect.poll(() => timesAnnounced(page, '0 matches in 2 requests')).toBe(1);
    await filterField(page).fill('nor-like-this');
    await expect.poll(() => timesAnnounced(page, '0 matches in 2 requests')).toBe(2);
  });

  await test.step('that an endpoint has a signing secret, from a button that opens a dialog', async () => {
    await page.getByRole('button', { name: 'Signing secret', exact: true }).click();
    await page.getByLabel('Secret', { exact: true }).fill('a secret');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Signing secret (set)' })).not.toHaveAttribute('aria-pressed');
  });
});

test('a screen reader hears once that the connection is lost, also beside an open dialog', async ({
  page,
  person: _,
}) => {
  const endpoint = await createEndpoint(page);
  await sendJson(endpoint.url, {});
  let attempts = 0;
  const { promise: opened, resolve: open } = Promise.withResolvers<() => Promise<void>>();
  await page.routeWebSocket(/\/ws\?/, async (socket) => {
    attempts++;
    // Later ones get no answer.
    if (attempts > 1) await new Promise(() => undefined);
    socket.connectToServer();
    open(() => socket.close({ code: 1001 }));
  });
  await openLive(page, endpoint);
  await noteStatuses(page);
  const disconnect = await opened;
  await page.getByRole('button', { name: 'Clear Data' }).click();
  await expect(page.getByRole('alertdialog')).toBeVisible();
  await disconnect();
  await expect(page.getByRole('status').filter({ hasText: 'Not connected to real-time updates.' })).toHaveCount(1);
  await pressEscape(page);
  await expect(page.getByRole('alertdialog')).toHaveCount(0);
  await expect.poll(() => timesAnnounced(page, 'Offline')).toBe(1);
  await expect.poll(() => attempts).toBe(2);
  await expect(page.getByText('Offline', { exact: true })).toBeVisible();
  expect(await timesAnnounced(page, 'Connecting')).toBe(0);
});
