// New captures appear in order and exactly once, even after a lost connection.
import { endpointSchema } from '@creel/contract';
import type { WebSocketRoute } from '@playwright/test';
import { expect, test } from './app.ts';
import {
  changeEndpoint,
  createEndpoint,
  detailsOf,
  goLive,
  goTo,
  list,
  openLive,
  row,
  rows,
  send,
  sendJson,
  sendMany,
} from './endpoints.ts';
import { heading, holdCalls, holdSockets } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

test('captures appear as they arrive, also on an empty, a scrolled and a paused list', async ({ page, person: _ }) => {
  await test.step('captures appear as they arrive, newest first', async () => {
    const endpoint = await createEndpoint(page);
    await openLive(page, endpoint);
    await expect(page.getByText('No requests received yet.')).toBeVisible();

    await sendJson(endpoint.url, { type: 'order.paid' }, '/orders?probe=1');
    await expect(row(page, 0)).toContainText('POST');
    await expect(row(page, 0)).toContainText('/orders');
    await expect(row(page, 0)).toContainText('order.paid');
    await expect(row(page, 0)).toContainText('Unsaved');
    await send(endpoint.url, { method: 'PUT', path: '/two' });
    await send(endpoint.url, { method: 'DELETE', path: '/three' });
    await expect(rows(page)).toHaveCount(3);
    const order = await rows(page).evaluateAll((all) => all.map((one) => one.getAttribute('data-index')));
    expect(order).toEqual(['2', '1', '0']);
    await expect(page.getByText('+3 in last session')).toBeVisible();
    await page.getByRole('tab', { name: 'GET' }).click();
    await expect(page.getByText('No requests received yet.', { exact: true })).toBeVisible();
    await expect(page.getByText('Send a request to this endpoint to see it here.', { exact: true })).toBeVisible();
  });

  await test.step('the test request of an empty endpoint is a real one, and does not decide its source', async () => {
    const endpoint = await createEndpoint(page);
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Send a test request' }).click();
    await expect(row(page, 0)).toContainText('test.request');
    await send(endpoint.url, { headers: { 'x-github-event': 'push' } });
    const { source } = endpointSchema.parse(await (await page.request.get(`/api/endpoints/${endpoint.uid}`)).json());
    expect(source).toBe('GitHub');
  });

  await test.step('a request that arrives before the connection is open is counted', async () => {
    const endpoint = await createEndpoint(page);
    const { release } = await holdSockets(page, new RegExp(endpoint.uid));
    await goTo(page, `/endpoints/${endpoint.uid}`);
    const total = page.locator('[data-stat="Total Requests"]');
    await expect(page.getByText('No requests received yet.')).toBeVisible();
    await expect(total).toHaveText('0');
    await send(endpoint.url);
    release();
    await expect(row(page, 0)).toBeVisible();
    await expect(total).toHaveText('1');
  });

  await test.step('captures appear also while the pointer or the keyboard focus rests on the list', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url);
    await goLive(page, endpoint);
    await row(page, 0).click();
    await send(endpoint.url);
    await expect(row(page, 1)).toBeVisible();
    await page.mouse.move(0, 0);
    await list(page).press('ArrowUp');
    await send(endpoint.url);
    await expect(row(page, 2)).toBeVisible();
  });

  await test.step('while scrolled down, new requests wait behind a button', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 60; at++) await send(endpoint.url, { path: `/${at}` });
    await goLive(page, endpoint);
    const grid = list(page);
    await expect(row(page, 59)).toBeVisible();
    await grid.evaluate((element) => element.scrollTo(0, 600));
    const first = () => grid.locator('[data-index]').first().getAttribute('data-index');
    await expect.poll(first).not.toBe('59');
    const seen = await first();
    await expect(page.getByRole('button', { name: /new/ }).filter({ hasText: /^\d/ })).toHaveCount(0);
    await send(endpoint.url);
    await send(endpoint.url);
    const pill = page.getByRole('button', { name: '2 new' });
    await expect(pill).toBeVisible();
    expect(await grid.locator('[data-index]').first().getAttribute('data-index')).toBe(seen);
    await pill.click();
    await expect(row(page, 61)).toBeVisible();
    await expect(pill).toHaveCount(0);

    // Another list starts at its top, so nothing waits there.
    await grid.evaluate((element) => element.scrollTo(0, 600));
    await expect.poll(first).not.toBe('61');
    await goLive(page, endpoint, '?find=method%3APOST');
    await expect(row(page, 61)).toBeVisible();
    await send(endpoint.url);
    await expect(row(page, 62)).toBeVisible();
  });

  await test.step('new requests wait while the list is paused, and appear when it resumes', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url);
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect(page.getByText('Paused')).toBeVisible();
    await send(endpoint.url, { path: '/waits' });
    await expect(page.getByRole('button', { name: '1 new' })).toBeVisible();
    await expect(row(page, 1)).toHaveCount(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect(row(page, 1)).toBeVisible();
  });

  await test.step('a list that is paused while it loads shows what was stored before', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url);
    const lists = await holdCalls(page, /requests\?/);
    const sockets = await holdSockets(page, new RegExp(endpoint.uid));
    await goTo(page, `/endpoints/${endpoint.uid}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    lists.release();
    sockets.release();
    await expect(row(page, 0)).toBeVisible();
    await expect(page.getByText('Paused')).toBeVisible();
    await send(endpoint.url);
    await expect(page.getByRole('button', { name: '1 new' })).toBeVisible();
    await expect(row(page, 1)).toHaveCount(0);
  });
});

test('the page continues after a lost connection and invalid messages', async ({ page, endpoint }) => {
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/ws\?/, (socket) => {
    socket.connectToServer();
    sockets.push(socket);
  });
  // Before the page is open: Chromium may still send the first call after it by itself.
  await page.route('**/save-request', (route) => route.abort());
  await send(endpoint.url);
  await openLive(page, endpoint);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();

  await test.step('a message that does not match the schema is dropped and counted, and the page continues', async () => {
    sockets[0]?.send('{"type":"request","data":{"id":"not a number"}}');
    sockets[0]?.send('not even JSON');
    sockets[0]?.send('{"type":"from-the-future","data":1}');
    await expect(page.getByText(/2 live messages were invalid/)).toBeVisible();
    await send(endpoint.url, { path: '/still-here' });
    await expect(row(page, 1)).toContainText('/still-here');
  });

  await test.step('a lost connection is reported, and requests from that time appear after it', async () => {
    await sockets[0]?.close({ code: 1001 });
    const lost = page.getByText('Not connected to real-time updates. Refresh the page to reconnect.');
    await expect(lost).toBeVisible();
    await send(endpoint.url, { path: '/meanwhile' });
    await expect(row(page, 2)).toContainText('/meanwhile');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await expect(lost).toHaveCount(0);
  });

  await test.step('what else changed while the connection was lost is shown after it', async () => {
    await sockets[1]?.close({ code: 1001 });
    await expect(page.getByText('Offline', { exact: true })).toBeVisible();
    await changeEndpoint(page, endpoint, { name: 'Renamed meanwhile' });
    await send(endpoint.url, { path: '/uncounted' });
    await expect(row(page, 3)).toContainText('/uncounted');
    await expect(heading(page, 'Renamed meanwhile')).toBeVisible();
    await expect(page.locator('[data-stat="Total Requests"]')).toHaveText('4');
    await expect(page.getByRole('link', { name: /^Renamed meanwhile 4 stored/ })).toBeVisible();
  });

  await test.step('a page without a network says so although its socket stays open, and one failed call does not', async () => {
    const checked = page.waitForResponse('**/api/service');
    await page.keyboard.press('s');
    await checked;
    await expect(page.getByText('Failed to save the webhook request.').first()).toBeVisible();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    expect(sockets).toHaveLength(3);
    await page.context().setOffline(true);
    await expect(page.getByText('Offline', { exact: true })).toBeVisible();
    await page.context().setOffline(false);
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    expect(sockets).toHaveLength(4);
  });

  await test.step('the request in the details stays when more arrived meanwhile than a list loads at once', async () => {
    await expect(detailsOf(page, 0)).toBeVisible();
    await page.context().setOffline(true);
    await expect(page.getByText('Offline', { exact: true })).toBeVisible();
    await sendMany(endpoint.url, 150);
    await page.context().setOffline(false);
    await expect(row(page, 153)).toBeVisible();
    await expect(detailsOf(page, 0)).toBeVisible();
    // A filter that does not match it selects another one.
    await page.getByRole('tab', { name: 'PUT' }).click();
    await expect(rows(page)).toHaveCount(0);
    await expect(detailsOf(page, 0)).toHaveCount(0);
  });
});

test('new requests and the figures appear although a proxy blocks web sockets', async ({ page, endpoint }) => {
  await page.routeWebSocket(/\/ws\?/, (socket) => void socket.close());
  await page.goto(`/endpoints/${endpoint.uid}`);
  await expect(page.getByText('Not connected to real-time updates. Refresh the page to reconnect.')).toBeVisible();
  await send(endpoint.url, { path: '/without-sockets' });
  await expect(row(page, 0)).toContainText('/without-sockets');
  await expect(page.locator('[data-stat="Total Requests"]')).toHaveText('1');
  await sendMany(endpoint.url, 150);
  await expect(row(page, 150)).toBeVisible();
  await page.getByRole('tab', { name: 'PUT' }).click();
  await expect(rows(page)).toHaveCount(0);
  await send(endpoint.url, { method: 'PUT', path: '/of-this-method' });
  await expect(row(page, 151)).toContainText('/of-this-method');
});
