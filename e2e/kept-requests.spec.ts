// What is kept: dropped requests are counted and can be restored, and deletions can be undone.
import type { Page, WebSocketRoute } from '@playwright/test';
import { expect, notifications, OWN_SETTINGS, test } from './app.ts';
import { expectNoFindings } from './axe.ts';
import {
  createEndpoint,
  detailsOf,
  goLive,
  openLive,
  row,
  rows,
  selectionBar,
  send,
  sendJson,
  stayBusy,
  unsaved,
} from './endpoints.ts';

test.use({ appSettings: OWN_SETTINGS });

const foot = (page: Page) => page.getByRole('region', { name: 'Kept requests' });

test('dropped requests are counted, marked, and saved before that', async ({ page, person: _ }) => {
  await test.step('dropped requests are counted, and the one on the screen stays and can be saved', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { order: 'first' }, '/kept?a=%7e');
    await openLive(page, endpoint);
    await expect(detailsOf(page, 0).getByText('"first"')).toBeVisible();
    for (let at = 1; at <= 7; at++) await send(endpoint.url, { path: `/${at}` });

    await expect(row(page, 0)).toHaveCount(0);
    await expect(page.getByText('The newest 5 unsaved requests are kept. 3 older ones were dropped.')).toBeVisible();
    const announced = foot(page).getByRole('status').filter({ hasText: 'are kept' });
    await expect(announced, 'a count that changes is not announced').toHaveText(
      'The newest 5 unsaved requests are kept.',
    );
    await expect(foot(page)).toContainText('8 captured');
    await expect(foot(page)).toContainText('5 stored');
    await expect(foot(page)).toContainText('0 saved');
    await expect(foot(page)).toContainText('3 dropped');
    await expect(detailsOf(page, 0).getByText('"first"')).toBeVisible();
    await expect(page.getByText('Dropped', { exact: true })).toBeVisible();
    await expectNoFindings(page, 'a dropped request');

    await page.getByRole('button', { name: 'Save now' }).click();
    await expect(page.getByText('The webhook request has been saved successfully.').first()).toBeVisible();
    await expect(page.getByRole('button', { name: 'Save now' })).toHaveCount(0);
    await expect(foot(page)).toContainText('1 saved');
    await expect(foot(page)).toContainText('2 dropped');
    const answer = await page.request.get(`/api/endpoints/${endpoint.uid}/requests`);
    expect(await answer.json()).toMatchObject([
      { index: 0, saved: true, rawTarget: '/kept?a=%7e', body: '{"order":"first"}', method: 'POST' },
    ]);
  });

  await test.step('Save all saves what is unsaved, and autosave ends the dropping', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 6; at++) await send(endpoint.url, { path: `/${at}` });
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Save all' }).click();
    await expect(page.getByText('5 requests saved').first()).toBeVisible();
    await expect(foot(page)).toContainText('5 saved');
    expect(await unsaved(page, endpoint.uid)).toEqual([]);

    for (let at = 0; at < 6; at++) await send(endpoint.url);
    await page.getByRole('button', { name: 'Turn on autosave' }).click();
    await expect(page.getByRole('switch', { name: 'Autosave' })).toBeChecked();
    await expect(page.getByText(/unsaved requests are kept/)).toHaveCount(0);

    for (let at = 0; at < 10; at++) await send(endpoint.url);
    await expect(
      page.getByText(/^This endpoint holds 8 saved requests, the most it can keep\..* ones were dropped\.$/),
    ).toBeVisible();
    await expect(page.getByRole('button', { name: 'Save all' }), 'nothing more can be saved').toHaveCount(0);
  });

  await test.step('rows that are dropped while the pointer is on the list stay in place, marked', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 5; at++) await send(endpoint.url, { path: `/${at}` });
    await goLive(page, endpoint);
    await row(page, 1).hover();
    const rest = await stayBusy(page, 'pointermove');
    const before = await row(page, 1).boundingBox();
    for (let at = 0; at < 3; at++) await send(endpoint.url);
    await expect(page.getByRole('button', { name: '3 new' })).toBeVisible();
    await expect(row(page, 1)).toContainText('Dropped');
    await expect(row(page, 3)).toContainText('Unsaved');
    expect(await row(page, 1).boundingBox()).toEqual(before);
    await rest();
    await page.mouse.move(5, 5);
    await expect(row(page, 1)).toHaveCount(0);
    await expect(row(page, 7)).toBeVisible();
  });

  await test.step('a dropped request whose body the page has only in part cannot be saved, and says so', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url, { body: 'x'.repeat(400_000), headers: { 'content-type': 'text/plain' } });
    await goLive(page, endpoint);
    await expect(detailsOf(page, 0)).toBeVisible();
    for (let at = 1; at <= 6; at++) await send(endpoint.url);
    await expect(page.getByText('This page has only the beginning of its body.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Save now' })).toHaveCount(0);
  });
});

test('requests that are newer than the figures of the server are not taken for dropped', async ({ page, endpoint }) => {
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/ws\?/, (socket) => {
    sockets.push(socket);
    socket.connectToServer().onMessage((message) => {
      if (!String(message).startsWith('{"type":"endpoint"')) socket.send(message);
    });
  });
  for (let at = 0; at < 5; at++) await send(endpoint.url, { path: `/${at}` });
  await openLive(page, endpoint);
  await row(page, 1).hover();
  await stayBusy(page, 'pointermove');
  await send(endpoint.url);
  const data: unknown = await (await page.request.get(`/api/endpoints/${endpoint.uid}`)).json();
  for (let at = 6; at < 8; at++) await send(endpoint.url);
  await expect(page.getByRole('button', { name: '3 new' })).toBeVisible();
  sockets[0]?.send(JSON.stringify({ type: 'endpoint', data }));
  await expect(row(page, 0)).toContainText('Dropped');
  await expect(row(page, 1)).toContainText('Unsaved');
});

/** Answers the browser's question with Yes if `isSure` is true in the page, and records which rows were marked while it was open. */
async function answerQuestions(page: Page): Promise<() => Promise<unknown>> {
  await page.addInitScript(`
    globalThis.asked = [];
    globalThis.isSure = true;
    globalThis.confirm = (question) => {
      const rows = [...document.querySelectorAll('[data-deleting]')].map((row) => row.dataset.index);
      globalThis.asked.push([question, rows]);
      return globalThis.isSure;
    };`);
  return () => page.evaluate('globalThis.asked');
}

test('a deletion is confirmed, and that of several requests offers Undo and happens when the offer ends', async ({
  page,
  endpoint,
}) => {
  for (const path of ['/a', '/b', '/c', '/d', '/e']) await send(endpoint.url, { method: 'PUT', path });
  const asked = await answerQuestions(page);
  const indexes = async () => (await unsaved(page, endpoint.uid)).map(({ index }) => index);
  const toast = notifications(page);
  const deleteSelected = async (...selected: readonly number[]): Promise<void> => {
    for (const index of selected) await row(page, index).getByRole('checkbox').click();
    // The offer lasts for 5 seconds. Otherwise the time of a busy machine counts too.
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 60_000);
    await selectionBar(page).getByRole('button', { name: 'Delete' }).click();
    await page.clock.runFor(100);
  };

  await test.step('one request is marked while the browser asks, is named, and is deleted at once', async () => {
    await openLive(page, endpoint, '?request=4');
    await expect(detailsOf(page, 4)).toBeVisible();
    await page.keyboard.press('Delete');
    await expect(row(page, 4)).toHaveCount(0);
    expect(await asked()).toEqual([['Are you sure you want to delete this request?', ['4']]]);
    await expect(toast.getByText('PUT /e #4')).toBeVisible();
    // Without waiting: an offer would disappear.
    expect(await toast.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await expect.poll(indexes).toEqual([3, 2, 1, 0]);
  });

  await test.step('an answer of No deletes nothing and unmarks the row', async () => {
    await page.evaluate('isSure = false');
    await row(page, 1).click();
    await expect(detailsOf(page, 1)).toBeVisible();
    await page.keyboard.press('Delete');
    await expect.poll(asked).toHaveLength(2);
    await expect(row(page, 1)).toBeVisible();
    await expect(page.locator('[data-deleting]')).toHaveCount(0);
    await page.evaluate('isSure = true');
  });

  await page.clock.install();

  await test.step('several deleted requests come back with Undo', async () => {
    await deleteSelected(0, 1);
    await expect(row(page, 1)).toHaveCount(0);
    await toast.getByRole('button', { name: 'Undo' }).click();
    await page.clock.resume();
    await expect(row(page, 1)).toBeVisible();
    await expect(detailsOf(page, 1)).toBeVisible();
    expect(await indexes()).toEqual([3, 2, 1, 0]);
  });

  await test.step('a tab that is closed before the offer ends deletes nothing', async () => {
    await deleteSelected(0, 1);
    await expect(toast.getByRole('button', { name: 'Undo' })).toBeVisible();
    await page.reload();
    await page.clock.resume();
    await expect(row(page, 0)).toBeVisible();
    expect(await indexes()).toHaveLength(4);
  });

  await test.step('without Undo, selected requests are deleted on the server when the offer ends', async () => {
    await deleteSelected(0, 2);
    await expect(row(page, 2)).toHaveCount(0);
    expect(await asked()).toEqual([['Are you sure you want to delete these 2 requests?', ['2', '0']]]);
    const undo = page.getByRole('button', { name: 'Undo' });
    await page.clock.runFor(4800);
    await expect(undo).toBeVisible();
    expect(await indexes()).toHaveLength(4);
    await page.clock.runFor(200);
    await expect(undo).toHaveCount(0);
    await expect.poll(indexes).toEqual([3, 1]);
    await expect(rows(page)).toHaveCount(2);
  });
});
