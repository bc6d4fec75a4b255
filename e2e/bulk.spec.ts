// Many requests at once: selecting all that match, exporting, replaying in order.
import { unsavedId } from '@creel/contract';
import type { Endpoint } from '@creel/contract';
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { unzipSync } from 'fflate';
import { expect, notifications, pressEscape, toast } from './app.ts';
import { expectNoFindings } from './axe.ts';
import {
  changeEndpoint,
  createEndpoint,
  goLive,
  list,
  openLive,
  row,
  selectionBar,
  send,
  sendMany,
  unsaved,
} from './endpoints.ts';
import { test } from './target.ts';
import { PHONE, answerWith, heading, logOut, problem } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

/** Opens the page of an endpoint and selects all of its requests. */
async function selectAll(page: Page, endpoint: Endpoint, open = goLive): Promise<void> {
  await open(page, endpoint);
  await page.getByRole('checkbox', { name: 'Select all that match' }).click();
}

/** Opens the replay of the selected requests. */
async function openBulkReplay(page: Page, count: number) {
  await selectionBar(page).getByRole('button', { name: 'Replay' }).click();
  const dialog = page.getByRole('dialog', { name: `Replay ${count} requests` });
  return { dialog, results: dialog.getByRole('region', { name: 'Results' }) };
}

async function exportAs(page: Page, format: RegExp): Promise<Buffer> {
  await selectionBar(page).getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: format }).click();
  return readFile(await (await download).path());
}

test('all that match are selected, also those that are not loaded, and exported or saved', async ({
  page,
  endpoint,
}) => {
  const bodyOf = (at: number): string => `body ${at} `.repeat(at === 1 ? 5000 : 1);
  for (let at = 0; at < 130; at++)
    await send(endpoint.url, { path: `/${at}`, method: at % 10 === 0 ? 'PUT' : 'POST', body: bodyOf(at) });
  await selectAll(page, endpoint, openLive);
  await expect(selectionBar(page)).toContainText('130 selected');
  const single: string[] = [];
  page.on('request', (request) => void (/requests\/-?\d+$/.test(request.url()) && single.push(request.url())));
  const lines = (await exportAs(page, /JSON lines/)).toString().trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).body)).toEqual(Array.from({ length: 130 }, (_, at) => bodyOf(at)));
  // Only the large body is not in a page of the list.
  expect(single).toHaveLength(1);
  // Another filter has its own selection.
  await selectionBar(page).getByRole('button', { name: 'Clear the selection' }).click();
  await page.getByRole('tab', { name: 'PUT' }).click();
  await page.getByRole('checkbox', { name: 'Select all that match' }).click();
  await expect(selectionBar(page)).toContainText('13 selected');
  await selectionBar(page).getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('13 requests saved').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Kept requests' })).toContainText('13 saved');
  await expect(selectionBar(page).getByRole('button', { name: 'Save' })).toHaveCount(0);
});

test('the selected requests are exported and replayed', async ({ page, person: _, target }) => {
  await test.step('a query selects its matches', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 12; at++) await send(endpoint.url, { path: '/x', body: at < 3 ? 'needle' : 'hay' });
    await openLive(page, endpoint, '?find=body%3Aneedle');
    await expect(row(page, 0)).toBeVisible();
    await page.getByRole('checkbox', { name: 'Select all that match' }).click();
    await expect(selectionBar(page)).toContainText('3 selected');
  });

  await test.step('a press beside a checkbox marks, because a target has 24 px', async () => {
    await selectionBar(page).getByRole('button', { name: 'Clear the selection' }).click();
    const cell = row(page, 1).getByRole('gridcell').first();
    const { width = 0, height = 0 } = (await cell.boundingBox()) ?? {};
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(24);
    await cell.click({ position: { x: width - 2, y: 3 } });
    await expect(page.getByRole('checkbox', { name: 'Select request 1' })).toBeChecked();
    await cell.click({ position: { x: 1, y: height - 3 } });
    await expect(selectionBar(page)).toHaveCount(0);
  });

  await test.step('exports have the exact bytes: raw HTTP in a zip, JSON lines, HAR', async () => {
    const endpoint = await createEndpoint(page);
    const bytes = Uint8Array.from({ length: 40_000 }, (__, at) => (at * 7) % 256);
    await send(endpoint.url, { path: '/first?a=%7e', headers: { 'X-Mixed-Case': '1' }, body: 'text' });
    await send(endpoint.url, { path: '/second', body: bytes });
    await selectAll(page, endpoint);
    await expect(selectionBar(page)).toContainText('2 selected');

    const files = unzipSync(await exportAs(page, /Raw HTTP/));
    expect(Object.keys(files)).toEqual(['000000-POST-first.http', '000001-POST-second.http']);
    const first = Buffer.from(files['000000-POST-first.http'] ?? []).toString('latin1');
    expect(first).toMatch(/^POST \/h\/[\w-]+\/first\?a=%7e HTTP\/1\.1\r\n/);
    expect(first).toContain('\r\ncontent-length: 4\r\n');
    expect(first.endsWith('\r\n\r\ntext')).toBe(true);
    const second = Buffer.from(files['000001-POST-second.http'] ?? []);
    expect(second.subarray(second.indexOf('\r\n\r\n') + 4)).toEqual(Buffer.from(bytes));

    const lines = (await exportAs(page, /JSON lines/)).toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).index)).toEqual([0, 1]);
    expect(Buffer.from(JSON.parse(lines[1] ?? '').body, 'base64')).toEqual(Buffer.from(bytes));

    const har = JSON.parse((await exportAs(page, /HAR/)).toString());
    expect(har.log.entries).toHaveLength(2);
  });

  await test.step('the selected requests are replayed in order, with a summary of the statuses', async () => {
    const endpoint = await createEndpoint(page);
    for (const path of ['/a?x=1', '/b', '/c']) await send(endpoint.url, { path, body: path });
    await selectAll(page, endpoint);
    await expect(selectionBar(page)).toContainText('3 selected');
    // The key acts on the selected ones, even while the checkbox has the focus.
    await expect(page.getByRole('checkbox', { name: 'Clear the selection' })).toBeFocused();
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog', { name: 'Replay 3 requests' });
    await dialog.getByLabel('Destination').fill('https://example.com');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await expect(dialog.getByText(/placeholder/)).toBeVisible();

    // The first one waits for its response, so that the run can be stopped.
    let release = (): void => undefined;
    target.answerWith((answer, { url }) => {
      if (url.startsWith('/a')) release = () => void answer.end('ok');
      else answer.writeHead(url === '/b' ? 500 : 200).end();
    });
    await dialog.getByLabel('Destination').fill(target.url);
    await dialog.getByLabel('Destination').press('Enter');
    const results = dialog.getByRole('region', { name: 'Results' });
    await expect(results).toContainText('0 of 3 sent');
    await expect(dialog.getByLabel('Destination')).toBeFocused();
    await expect.poll(() => target.received.length).toBe(1);
    // Escape stops the run and closes the dialog only after it.
    await pressEscape(page);
    await expect(results).toContainText('Stopped: 0 of 3 sent');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await expect.poll(() => target.received.length).toBe(2);
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await expect(results).toContainText('Stopped: 0 of 3 sent');
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toHaveCount(0);
    release();
    target.answerWith((answer, { url }) => answer.writeHead(url === '/b' ? 500 : 200).end());

    await dialog.getByRole('button', { name: 'Continue' }).press('Enter');
    await expect(results).toContainText('3 of 3 sent');
    await expect(dialog.getByRole('button', { name: 'Close' }).first()).toBeFocused();
    await expect(results).toContainText('200 × 2');
    await expect(results).toContainText('500 × 1');
    await expect(results.getByRole('listitem')).toHaveText(['#1 POST /b500 Internal Server Error']);
    expect(target.received.slice(2).map(({ url, body }) => [url, String(body)])).toEqual([
      ['/a?x=1', '/a?x=1'],
      ['/b', '/b'],
      ['/c', '/c'],
    ]);
    await expectNoFindings(page, 'the summary of a bulk replay', '[role="dialog"]');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect(dialog).toHaveCount(0);
  });

  await test.step('a bulk replay says how long it takes, and stops without the server', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 6; at++) await send(endpoint.url, { path: `/${at}`, body: 'x' });
    await selectAll(page, endpoint);
    const { dialog, results } = await openBulkReplay(page, 6);
    target.answerWith((answer, { url }) => void (url === '/3' || answer.end('ok')));
    await dialog.getByLabel('Destination').fill(target.url);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await expect(results).toContainText('3 of 6 sent');
    await expect(results).toContainText(/about \d+ s left/);

    // The browser asks before it ends the run.
    const question = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const asked = await question;
    expect(asked.type()).toBe('beforeunload');
    await asked.dismiss();

    await dialog.getByRole('button', { name: 'Stop' }).click();
    await expect(results).toContainText('Stopped: 3 of 6 sent');
    await expect(results).not.toContainText('left');
    await page.route('**/api/replay', (route) => route.abort());
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await expect(dialog).toContainText('The server could not be reached.');
    await expect(results).toContainText('Stopped: 3 of 6 sent');
    await expect(results).toContainText('The destination may have received #3. Continue sends it again.');
    await page.unroute('**/api/replay');
    await answerWith(page, '**/api/replay', 503, problem('The server is busy.', 'UNAVAILABLE'));
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await expect(dialog).toContainText('The server is busy.');
    await expect(results).toContainText('Stopped: 3 of 6 sent');
    await expect(results).not.toContainText('Not sent');
    await expect(results, 'a rejected replay was not sent').not.toContainText('may have received');
    await page.unroute('**/api/replay');
    target.answerWith((answer) => answer.end('ok'));
    await page.request.delete(`/api/endpoints/${endpoint.uid}/requests/${unsavedId(4)}`);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await expect(results).toContainText('5 of 6 sent');
    await expect(results).toContainText('200 × 5');
    await expect(results).toContainText('Not sent × 1');
    await expect(dialog).not.toContainText('could not be reached');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  await test.step('a bulk replay lists 100 failures, and says how many more there are', async () => {
    const endpoint = await createEndpoint(page);
    await sendMany(endpoint.url, 102);
    await selectAll(page, endpoint);
    const { dialog } = await openBulkReplay(page, 102);
    await answerWith(page, '**/api/replay', 502, problem('The destination refused the connection.', 'REPLAY_FAILED'));
    await dialog.getByLabel('Destination').fill(target.url);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await expect(dialog.getByRole('listitem').last()).toHaveText('and 2 more');
    await page.unroute('**/api/replay');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  await test.step('a bulk replay that stops because its endpoint was deleted elsewhere says how far it came', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 3; at++) await send(endpoint.url, { path: `/${at}`, body: 'x' });
    await selectAll(page, endpoint);
    const { dialog, results } = await openBulkReplay(page, 3);
    target.answerWith((answer, { url }) => void (url === '/1' || answer.end('ok')));
    await dialog.getByLabel('Destination').fill(target.url);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await expect(results).toContainText('1 of 3 sent');
    // A replay may notice it before the live connection.
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await answerWith(page, '**/api/replay', 404, problem('This endpoint does not exist.', 'ENDPOINT_NOT_FOUND'));
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await expect(toast(page, 'Replay stopped')).toBeVisible();
    await expect(dialog).toContainText('This endpoint does not exist.');
    await expect(results).toContainText('Stopped: 1 of 3 sent');
    await page.unroute('**/api/replay');
    await notifications(page).getByRole('button', { name: 'Close' }).click();

    await dialog.getByRole('button', { name: 'Continue' }).click();
    await expect(dialog.getByRole('button', { name: 'Stop' })).toBeVisible();
    await page.request.delete(`/api/endpoints/${endpoint.uid}`);
    await expect(heading(page, 'Endpoint Not Found')).toBeVisible();
    await expect(toast(page, 'Replay stopped')).toBeVisible();
    await expect(toast(page, '1 of 3 requests sent.')).toBeVisible();
  });

  await test.step('saving and deleting stop without the server, and the list stays as it was', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 12; at++) await send(endpoint.url, { path: `/${at}`, body: 'x' });
    await selectAll(page, endpoint);
    let calls = 0;
    await page.route(/(save|delete)-request/, (route) => {
      calls++;
      return route.fulfill({ status: 503, json: problem('The server is busy.', 'UNAVAILABLE') });
    });
    await selectionBar(page).getByRole('button', { name: 'Save' }).click();
    await expect(toast(page, '0 of 12 requests saved. The server is busy.')).toBeVisible();
    expect(calls).toBe(1);

    await page.clock.install();
    page.once('dialog', (asked) => void asked.accept());
    await selectionBar(page).getByRole('button', { name: 'Delete' }).click();
    await expect(toast(page, '12 requests deleted')).toBeVisible();
    await expect(row(page, 0)).toHaveCount(0);
    await page.clock.runFor(6000);
    await expect(toast(page, '12 of 12 requests could not be deleted.')).toBeVisible();
    await expect(row(page, 0)).toBeVisible();
    expect(calls).toBe(2);
    await page.unroute(/(save|delete)-request/);
  });

  await test.step('the browser asks before a page is closed that still deletes', async () => {
    const endpoint = await createEndpoint(page);
    await sendMany(endpoint.url, 3);
    await goLive(page, endpoint);
    await page.getByRole('checkbox', { name: 'Select all that match' }).click();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let calls = 0;
    await page.route('**/delete-requests', async (route) => {
      calls++;
      await released;
      await route.continue();
    });
    page.once('dialog', (asked) => void asked.accept());
    await selectionBar(page).getByRole('button', { name: 'Delete' }).click();
    await expect(toast(page, '3 requests deleted')).toBeVisible();
    await page.clock.runFor(6000);
    await expect.poll(() => calls).toBe(1);
    const question = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const asked = await question;
    expect(asked.type()).toBe('beforeunload');
    await asked.dismiss();
    release();
    await expect.poll(() => unsaved(page, endpoint.uid)).toEqual([]);
    await page.unroute('**/delete-requests');
  });

  await test.step('on a phone, the progress of an export is visible without scrolling', async () => {
    const endpoint = await createEndpoint(page);
    await page.setViewportSize(PHONE);
    // Not in a page of the list, so it is read by a call, which waits here.
    await send(endpoint.url, { body: 'large '.repeat(5000) });
    await page.route(/\/requests\/-\d+$/, () => undefined);
    await selectAll(page, endpoint);
    await selectionBar(page).getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'HAR' }).click();
    const progress = page.getByRole('region', { name: 'Kept requests' }).getByText('Exporting 0 of 1').first();
    await expect(progress).toBeInViewport({ ratio: 1 });
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(progress).toHaveCount(0);
  });
});

test('thousands are deleted in few calls, with progress, and what stays comes back', async ({ page, endpoint }) => {
  await changeEndpoint(page, endpoint, { autosave: true });
  await sendMany(endpoint.url, 2500);
  await page.clock.install();
  await selectAll(page, endpoint, openLive);
  await expect(selectionBar(page)).toContainText('2,500 selected');
  page.on('dialog', (asked) => void asked.accept());
  const stored = async (): Promise<unknown> =>
    (await (await page.request.get(`/api/endpoints/${endpoint.uid}`)).json()).requestCount;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let calls = 0;
  await page.route('**/delete-requests', async (route) => {
    calls++;
    if (calls > 2) await released;
    await route.continue();
  });

  await selectionBar(page).getByRole('button', { name: 'Delete' }).click();
  await expect(toast(page, '2,500 requests deleted')).toBeVisible();
  await expect(page.getByText('2,500 requests are being deleted')).toBeVisible();
  await expect(page.getByText('No requests received yet.')).toHaveCount(0);
  expect(await stored()).toBe(2500);
  await page.clock.runFor(6000);
  // Two are answered, and one waits.
  await expect.poll(() => calls).toBe(3);
  await page.clock.runFor(1000);
  const foot = page.getByRole('region', { name: 'Kept requests' });
  await expect(foot).toContainText('Deleting 1,000 of 2,500');
  await expect(page.getByText('2,500 requests are being deleted')).toBeVisible();
  await expectNoFindings(page, 'a deletion in progress');
  await foot.getByRole('button', { name: 'Stop' }).click();
  release();
  await expect(toast(page, 'Deletion stopped')).toBeVisible();
  await expect(toast(page, '1,000 of 2,500 requests were not deleted.')).toBeVisible();
  await expect(row(page, 999)).toHaveAttribute('aria-selected', 'true');
  expect(await stored()).toBe(1000);

  await page.unroute('**/delete-requests');
  await page.route('**/delete-requests', (route) =>
    calls++ === 3 ? route.fulfill({ status: 500, json: {} }) : route.continue(),
  );
  await page.getByRole('checkbox', { name: 'Select all that match' }).click();
  await expect(selectionBar(page)).toContainText('1,000 selected');
  await selectionBar(page).getByRole('button', { name: 'Delete' }).click();
  await expect(toast(page, '1,000 requests deleted')).toBeVisible();
  await page.clock.runFor(6000);
  await expect(toast(page, '500 of 1,000 requests could not be deleted.')).toBeVisible();
  await expect(row(page, 999)).toBeVisible();
  expect(await stored()).toBe(500);
});

test('a logout ends the time in which a deletion can be undone', async ({ page, person, endpoint }) => {
  await sendMany(endpoint.url, 3);
  await openLive(page, endpoint);
  page.on('dialog', (dialog) => void dialog.accept());
  await list(page).press('ControlOrMeta+a');
  await expect(selectionBar(page)).toContainText('3 selected');
  await page.keyboard.press('Delete');
  await expect(toast(page, '3 requests deleted')).toBeVisible();
  await logOut(page, person.username);
  await expect(toast(page, '3 requests deleted')).toHaveCount(0);
  await page.request.post('/api/login', { data: { username: person.username, password: person.password } });
  expect(await unsaved(page, endpoint.uid)).toEqual([]);
});
