// Room to read: the height of what is above the list, the visible lines of JSON, and the replay form below them.
import type { Page } from '@playwright/test';
import { expect, test } from './app.ts';
import { changeEndpoint, detailsOf, filterField, openLive, row, selectionBar, sendJson } from './endpoints.ts';
import { bodyField, openReplay, urlField } from './replay.ts';
import { DESKTOP, heading, PHONE } from './pages.ts';

/** JSON of 82 lines. */
const LONG = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`key_${at}`, at]));

/** Number of lines of JSON that are fully visible. */
const VISIBLE_LINES = `(() => {
  const tree = document.querySelector('[role="tree"]');
  const { top, bottom } = tree.getBoundingClientRect();
  const end = Math.min(bottom, innerHeight);
  return [...tree.querySelectorAll('[role="treeitem"]')].filter((line) => {
    const box = line.getBoundingClientRect();
    return box.top >= top && box.bottom <= end;
  }).length;
})()`;

/** Height in pixels of the titles of the columns. */
const TITLES = 28;

/** Top of the requests in pixels. */
const LIST_TOP = `document.querySelector('[role="tablist"][aria-label="Filter by method"]')
  .closest('[tabindex="-1"]').getBoundingClientRect().top`;

/** Distance in pixels from the top of the page's main part to the requests. */
const HEADER_HEIGHT = `${LIST_TOP} - document.querySelector('#main').getBoundingClientRect().top`;

const visibleLines = (page: Page): Promise<number> => page.evaluate(VISIBLE_LINES);

test('what is above the list, JSON and the replay form have room at every size', async ({ page, endpoint }) => {
  await sendJson(endpoint.url, LONG, '/hooks');
  await openLive(page, endpoint);

  for (const [width, height, closed, open] of [
    [1440, 900, 24, 14],
    [1024, 768, 18, 10],
  ] as const)
    await test.step(`at ${width}x${height}, ${closed} lines of JSON are visible, and ${open} with the replay form open`, async () => {
      await page.setViewportSize({ width, height });
      await expect(page.getByRole('treeitem').first()).toBeVisible();
      await expect.poll(() => visibleLines(page)).toBeGreaterThanOrEqual(closed);
      await page.keyboard.press('r');
      await expect(urlField(page)).toBeFocused();
      await expect.poll(() => visibleLines(page)).toBeGreaterThanOrEqual(open);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Replay Request' }).click();
      await expect(urlField(page)).toHaveCount(0);
    });

  await test.step('on a phone, the first row is at 320 px or higher', async () => {
    await page.setViewportSize(PHONE);
    await openLive(page, endpoint);
    await expect(row(page, 0)).toBeVisible();
    await expect.poll(async () => (await row(page, 0).boundingBox())?.y).toBeLessThanOrEqual(320);
    await page.getByRole('button', { name: 'Show endpoint details' }).click();
    await expect(page.getByRole('region', { name: 'Statistics' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Clear Data' })).toBeVisible();
  });

  await test.step('at 1440x900, at most 120 px are above the list, with every hint and figure', async () => {
    await page.setViewportSize(DESKTOP);
    await changeEndpoint(page, endpoint, { autosave: true, name: 'W'.repeat(100) });
    await openLive(page, endpoint);
    await sendJson(endpoint.url, LONG);
    await expect(page.getByText('+1 in last session')).toBeVisible();
    await expect(page.getByText('Send HTTP requests to this URL to view them in the dashboard below.')).toBeVisible();
    await expect(page.locator('[data-stat="Average Size"]')).toBeInViewport();
    await expect.poll(() => page.evaluate(HEADER_HEIGHT)).toBeLessThanOrEqual(120);
  });

  await test.step('the part above the list collapses to the name and the URL, and the choice is remembered', async () => {
    const before = Number(await page.evaluate(HEADER_HEIGHT));
    await page.getByRole('button', { name: 'Hide endpoint details' }).click();
    await expect(page.getByRole('region', { name: 'Statistics' })).toHaveCount(0);
    await expect.poll(() => page.evaluate(HEADER_HEIGHT)).toBeLessThan(before - 35);
    await page.reload();
    await expect(page.getByRole('button', { name: 'Show endpoint details' })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Endpoint URL' })).toBeVisible();
    await page.getByRole('button', { name: 'Show endpoint details' }).click();
    await expect(page.getByRole('region', { name: 'Statistics' })).toBeVisible();
  });
});

test('the filters and the actions on selected requests have the same height', async ({ page, endpoint }) => {
  for (const path of ['/a', '/b']) await sendJson(endpoint.url, {}, path);
  for (const [width, height] of [
    [1440, 40],
    [1024, 72],
  ] as const)
    await test.step(`at ${width} px, the filters take ${height} px, and so do the actions on selected requests`, async () => {
      await page.setViewportSize({ width, height: 768 });
      await openLive(page, endpoint);
      const rowTop = async (): Promise<number> => (await row(page, 1).boundingBox())?.y ?? Number.NaN;
      const toolbar = async (): Promise<number> => (await rowTop()) - TITLES - Number(await page.evaluate(LIST_TOP));
      await expect.poll(toolbar).toBeLessThanOrEqual(height + 1);
      const top = await rowTop();
      // The field is wide while it is used.
      const field = filterField(page);
      await field.focus();
      await expect.poll(async () => (await field.boundingBox())?.width).toBeGreaterThan(250);
      await field.fill('path:/');
      await expect(page.getByText('2 matches in 2 requests').first()).toBeVisible();
      await expect.poll(rowTop).toBe(top);
      await row(page, 1).click({ modifiers: ['Control'] });
      await row(page, 0).click({ modifiers: ['Control'] });
      await expect(selectionBar(page)).toContainText('2 selected');
      await expect(page.getByRole('button', { name: 'Compare', exact: true })).toBeVisible();
      await expect.poll(rowTop).toBe(top);
    });
});

test('the replay form closes when another request is chosen, and its draft is kept, also on other pages', async ({
  page,
  endpoint,
}) => {
  for (let at = 0; at < 2; at++) await sendJson(endpoint.url, LONG);
  await openReplay(page, endpoint, 1);
  await urlField(page).fill('http://127.0.0.1:9/draft');
  await row(page, 0).click();
  await expect(detailsOf(page, 0)).toBeVisible();
  await expect(urlField(page)).toHaveCount(0);
  await page.reload();
  await expect(detailsOf(page, 0)).toBeVisible();
  await expect(urlField(page)).toHaveCount(0);
  await page.keyboard.press('r');
  await urlField(page).fill('http://127.0.0.1:9/draft');
  await row(page, 1).click();
  await expect(urlField(page)).toHaveCount(0);
  await row(page, 0).click();
  await expect(page.getByRole('button', { name: 'Discard changes' })).toBeVisible();
  await page.keyboard.press('r');
  await expect(urlField(page)).toHaveValue('http://127.0.0.1:9/draft');

  await bodyField(page).fill('edited for minutes');
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(heading(page, 'Settings')).toBeVisible();
  await page.goBack();
  await expect(urlField(page)).toHaveValue('http://127.0.0.1:9/draft');
  await expect(bodyField(page)).toHaveValue('edited for minutes');
});
