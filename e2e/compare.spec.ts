// The comparison of two requests.
import { expectNoFindings } from './axe.ts';
import { expect, test } from './app.ts';
import { DESKTOP, holdCalls, PHONE } from './pages.ts';
import { createEndpoint, expectShownWhole, goLive, goTo, openLive, send, sendJson } from './endpoints.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

test('two requests are compared, chosen by the page or by the user', async ({ page, person: _ }) => {
  await test.step('the partner is the previous request of the same event type, and changed words are marked', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { type: 'invoice.paid', amount: 1000, currency: 'usd' });
    await sendJson(endpoint.url, { type: 'charge.failed', amount: 1 });
    await sendJson(endpoint.url, { type: 'invoice.paid', amount: 2500, currency: 'usd' });
    await openLive(page, endpoint, '?request=2');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: /compare/i }).click();
    await expect(page).toHaveURL(/compare=0/);
    const body = page.getByRole('table', { name: 'Body' });
    await expect(body.locator('del')).toHaveText(['[removed: 1000]']);
    await expect(body.locator('ins')).toHaveText(['[added: 2500]']);
    await expect(page.getByText('The headers are the same.')).toBeVisible();
    await expect(page.getByRole('table', { name: 'Headers' })).toHaveCount(0);
    await page.emulateMedia({ forcedColors: 'active' });
    // The system color `Mark`, as for the matches of a search.
    for (const word of ['ins', 'del'])
      await expect(body.locator(word)).toHaveCSS('background-color', 'rgb(255, 255, 0)');
    await page.emulateMedia({ forcedColors: null });
    await expectNoFindings(page, 'the comparison', '[aria-label="Compare requests"]');
  });

  await test.step('JSON is compared without the order of its keys on demand', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1, b: { c: 2, d: 3 } });
    await send(endpoint.url, {
      body: '{"b":{"d":3,"c":2},"a":1}',
      headers: { 'content-type': 'application/json' },
    });
    await goLive(page, endpoint);
    await goTo(page, `/endpoints/${endpoint.uid}?request=1&compare=0`);
    await expect(page.getByRole('table', { name: 'Body' })).toBeVisible();
    await page.getByRole('checkbox', { name: 'Ignore key order' }).check();
    await expect(page.getByText('The bodies have the same content in other bytes')).toBeVisible();
  });

  await test.step('characters that turn the direction of a text are visible', async () => {
    const endpoint = await createEndpoint(page);
    for (const end of ['exe', 'txt']) await send(endpoint.url, { body: `invoice\u202efdp.${end}` });
    await goTo(page, `/endpoints/${endpoint.uid}?request=1&compare=0`);
    await expect(page.getByRole('table', { name: 'Body' })).toContainText(String.raw`invoice\u202efdp.`);
  });

  await test.step('large bodies are compared to their end, and what is not shown is counted', async () => {
    const endpoint = await createEndpoint(page);
    const items = Array.from({ length: 30_000 }, (__, at) => `item number ${at}`);
    for (const last of ['the end', 'the other end']) await sendJson(endpoint.url, { items, last });
    for (const last of [1, 2, 2]) await send(endpoint.url, { body: Buffer.alloc(300_000, 0xff).fill(last, 299_999) });
    await goTo(page, `/endpoints/${endpoint.uid}?request=1&compare=0`);
    const body = page.getByRole('table', { name: 'Body' });
    await expect(body.locator('ins')).toHaveText(['[added: other ]']);
    await page.getByRole('checkbox', { name: 'Only differences' }).uncheck();
    await expect(page.getByText('The first 3,000 of 30,005 lines.')).toBeVisible();
    await goTo(page, `/endpoints/${endpoint.uid}?request=3&compare=2`);
    await expect(page.getByText("can't be compared line by line, because at least one is binary")).toBeVisible();
    await goTo(page, `/endpoints/${endpoint.uid}?request=4&compare=3`);
    await expect(page.getByText('The bodies are the same.')).toBeVisible();
  });

  await test.step('on a phone nothing moves when the comparison arrives', async () => {
    const endpoint = await createEndpoint(page);
    for (const n of [1, 2]) await sendJson(endpoint.url, { n, long: 'x'.repeat(20_000) });
    const size = page.viewportSize() ?? DESKTOP;
    await page.setViewportSize(PHONE);
    const held = await holdCalls(page, /\/requests\/-?\d+/);
    await goTo(page, `/endpoints/${endpoint.uid}?request=1&compare=0`);
    const change = page.getByRole('button', { name: 'Change the left request' });
    await expect(change).toBeVisible();
    await expect.poll(held.count).toBeGreaterThan(0);
    const before = await change.boundingBox();
    held.release();
    await expect(page.getByRole('checkbox', { name: 'Ignore key order' })).toBeVisible();
    expect((await change.boundingBox())?.y).toBe(before?.y);
    await page.setViewportSize(size);
  });

  await test.step('any request of the endpoint is chosen with a query', async () => {
    const endpoint = await createEndpoint(page);
    for (const path of ['/first', '/second', '/third']) await sendJson(endpoint.url, { path }, path);
    await send(endpoint.url, { path: '/fourth', headers: { 'x-github-event': 'event-'.repeat(20) } });
    await goTo(page, `/endpoints/${endpoint.uid}?request=2&compare=1`);
    await expect(page.getByRole('region', { name: 'Differences' })).toContainText('/second');
    await expect(page.getByRole('button', { name: /^Change the (left|right) request$/ })).toHaveCount(2);
    await page.keyboard.press('/');
    const field = page.getByRole('dialog').getByRole('combobox', { name: 'Find a request' });
    await expect(field).toBeFocused();
    await expectNoFindings(page, 'choosing a request', '[role="dialog"]');
    // The event type beside it is truncated.
    await expectShownWhole(page.getByRole('dialog'), '/fourth');
    await field.fill('path:/first');
    await expect(page.getByRole('dialog').getByRole('listitem')).toHaveCount(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/compare=0/);
    await expect(page.getByRole('region', { name: 'Differences' })).toContainText('/first');
    await expect(page.getByRole('region', { name: 'Compare requests' })).toBeVisible();
  });

  await test.step('the partner of a request without an event type is found by its path, also when it is not loaded', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 }, '/orders');
    for (let at = 0; at < 120; at++) await send(endpoint.url, { path: `/orders/${at}` });
    await sendJson(endpoint.url, { a: 2 }, '/orders');
    await goLive(page, endpoint, '?request=121');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: /compare/i }).click();
    await expect(page).toHaveURL(/compare=0/);
  });
});
