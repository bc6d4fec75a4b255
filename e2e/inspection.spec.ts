// Request details besides the body: request line, raw query, comparison with another request, position of a JSON error.
import type { Locator } from '@playwright/test';
import { expect, pressEscape, test } from './app.ts';
import { createEndpoint, detailsOf, goLive, goTo, openLive, row, send, sendJson } from './endpoints.ts';
import { allowClipboard, clipboard } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

test('what the details show besides the body', async ({ page, context, person: _ }) => {
  await test.step('query parameters are shown as sent, and decoded in order', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url, { path: '/q?2=b&1=%7e&2=a+b%20c&bare' });
    await openLive(page, endpoint);
    await page.getByRole('tab', { name: 'Query Params' }).click();
    const panel = page.getByRole('tabpanel', { name: 'Query Params' });
    await expect(panel.getByText('?2=b&1=%7e&2=a+b%20c&bare')).toBeVisible();
    const rows = panel
      .getByRole('table')
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader') });
    await expect(rows.getByRole('rowheader')).toHaveText(['2', '1', '2', 'bare']);
    await expect(rows.getByRole('cell')).toHaveText(['b', '~', 'a b c', '(empty)']);
  });

  await test.step('invalid JSON shows the position of its error, and a chosen JSON tab does not apply to other bodies', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url, { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    await sendJson(endpoint.url, { a: 1 });
    await send(endpoint.url, { body: '{"a": 1,\n "b": None}', headers: { 'content-type': 'application/json' } });
    await goLive(page, endpoint);
    const tab = (name: string): Locator =>
      page.getByRole('tablist', { name: 'Parts of the request' }).getByRole('tab', { name });
    await expect(page.getByText('Invalid JSON at line 2, column 7:')).toBeVisible();
    await expect(page.getByRole('tabpanel').locator('mark')).toHaveText('N');
    await row(page, 1).click();
    await tab('Raw').click();
    await tab('JSON').click();
    await expect(page.getByText('"a": 1')).toBeVisible();
    await row(page, 0).click();
    await expect(tab('Raw')).toHaveAttribute('aria-selected', 'true');
    await tab('JSON').click();
    await expect(page.getByText('This body is not JSON')).toBeVisible();
  });

  await test.step('the header shows sender, event type, the exact time with its zone, and the decoded path', async () => {
    const endpoint = await createEndpoint(page);
    const path = `/caf%C3%A9/${'long-part/'.repeat(20)}end?q=${'v'.repeat(50)}`;
    await send(endpoint.url, {
      path,
      body: '{"action":"opened"}',
      headers: { 'content-type': 'application/json', 'x-github-event': 'pull_request' },
    });
    await goLive(page, endpoint);
    const header = detailsOf(page, 0).locator('header');
    await expect(header.getByText('GitHub', { exact: true })).toBeVisible();
    await expect(header.getByText('pull_request.opened', { exact: true })).toBeVisible();
    await expect(header.locator('time')).toHaveText(/^[A-Z][a-z]{2} \d{1,2}, \d{4}, \d\d:\d\d:\d\d\.\d{3} UTC$/);
    await expect(header.getByText(/^\/café\/long-part/)).toBeVisible();
    const url = header.getByRole('heading');
    const height = async () => (await url.boundingBox())?.height ?? 0;
    const before = await height();
    await header.getByRole('button', { name: 'Show the whole URL' }).click();
    await expect(url).toContainText(`/h/${endpoint.uid}${path}`);
    expect(await height()).toBeGreaterThan(before + 20);
    await header.getByRole('button', { name: 'Show less of the URL' }).click();
    expect(await height()).toBe(before);

    const index = await send(endpoint.url, { path: `/${encodeURIComponent('مرحبا')}/orders` });
    await row(page, index).click();
    const decoded = detailsOf(page, index).getByText('/مرحبا/orders', { exact: true });
    await expect(decoded, 'a path is read from left to right').toHaveCSS('direction', 'ltr');
  });

  await test.step('the whole message can be read and copied, with and without a body', async () => {
    const endpoint = await createEndpoint(page);
    await allowClipboard(context);
    await send(endpoint.url, { method: 'GET', path: '/ping?a=%7e', headers: { 'X-Order': '1' } });
    await send(endpoint.url, { path: '/in', body: '{"a": 1}', headers: { 'content-type': 'application/json' } });
    await goLive(page, endpoint, '?request=1&tab=raw');
    const path = new URL(endpoint.url).pathname;
    const shown = page.getByRole('tabpanel', { name: 'Message' }).getByRole('region');
    await expect(page.getByRole('tab', { name: 'Text' })).toHaveAttribute('aria-selected', 'true');
    await page.getByRole('tab', { name: 'Message' }).click();
    await expect(shown).toHaveText(new RegExp(`^POST ${path}/in\\n(.+: .+\\n)*\\n\\{"a": 1\\}$`), {
      useInnerText: true,
    });
    await page.getByRole('button', { name: 'Copy what is shown' }).click();
    const copied: unknown = await clipboard(page);
    expect(copied).toMatch(/^POST [^]*content-type: application\/json\n[^]*\n\n\{"a": 1\}$/);
    await row(page, 0).click();
    await expect(shown).toHaveText(new RegExp(`^GET ${path}/ping\\?a=%7e\\n[^]*X-Order: 1`, 'i'), {
      useInnerText: true,
    });
  });

  await test.step('what is copied is what was sent: headers in UTF-8, and bytes that are no text', async () => {
    const endpoint = await createEndpoint(page);
    await allowClipboard(context);
    const bytes = Buffer.from([0, 255, 254, 128]);
    await send(endpoint.url, { body: bytes, headers: { 'x-name': Buffer.from('é☃').toString('latin1') } });
    await goLive(page, endpoint, '?request=0&tab=headers');
    await expect(page.getByRole('cell', { name: 'é☃' })).toBeVisible();
    await page.getByRole('button', { name: 'Copy what is shown' }).click();
    await expect.poll(() => clipboard(page)).toContain('x-name: é☃\n');
    await detailsOf(page, 0).getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy body as base64' }).click();
    await expect.poll(() => clipboard(page)).toBe(bytes.toString('base64'));
  });

  await test.step('characters that turn the direction of a text are visible, and copied as they are', async () => {
    const endpoint = await createEndpoint(page);
    const name = 'invoice\u202efdp.exe';
    const part = `--b\r\ncontent-disposition: form-data; name="f"; filename="${name}"\r\n\r\nx\r\n--b--`;
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      'x-name': Buffer.from(name).toString('latin1'),
    };
    await send(endpoint.url, { path: `/?name=${encodeURIComponent(name)}`, body: part, headers });
    await goLive(page, endpoint);
    const details = detailsOf(page, 0);
    const shown = String.raw`invoice\u202efdp.exe`;
    await details.getByRole('tab', { name: 'Raw' }).click();
    await expect(details.getByText(shown, { exact: true })).toBeVisible();
    const copy = details.getByRole('button', { name: 'Copy what is shown' });
    await expect(copy, 'the parts are not shown as text').toHaveCount(0);
    await details.getByRole('tab', { name: 'Hex' }).click();
    await expect(details.getByRole('button', { name: 'Copy as hex' })).toBeVisible();
    await expect(copy, 'the text is not shown').toHaveCount(0);
    await details.getByRole('tab', { name: 'Text', exact: true }).click();
    await expect(copy).toBeVisible();
    await expect(details.getByRole('tabpanel', { name: 'Text', exact: true })).toContainText(shown);
    await details.getByRole('tab', { name: 'JSON' }).click();
    await expect(details.getByText('This body is not JSON')).toBeVisible();
    await expect(copy, 'the text is not shown').toHaveCount(0);
    await details.getByRole('tab', { name: 'Headers' }).click();
    await expect(details.getByRole('cell', { name: shown })).toBeVisible();
    await details.getByRole('tab', { name: 'Query Params' }).click();
    await details.getByRole('cell', { name: shown }).hover();
    await details.getByRole('button', { name: 'Copy name' }).click();
    await expect.poll(() => clipboard(page)).toBe(name);
  });

  await test.step('paper shows the open request alone, and printing closes nothing', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { items: [...Array(3000).keys()] });
    await sendJson(endpoint.url, { items: [...Array(120).keys()].map((at) => `item ${at}`) });
    await goLive(page, endpoint);
    await row(page, 1).click();
    await page.keyboard.press('f');
    const search = page.getByRole('textbox', { name: 'Search inside' });
    await search.fill('item 7');
    const size = page.viewportSize() ?? { width: 1440, height: 900 };
    await page.emulateMedia({ media: 'print' });
    // US Letter with the margins of Chromium.
    await page.setViewportSize({ width: 739, height: 980 });
    await expect(page.getByRole('grid')).toBeHidden();
    await expect(page.getByRole('complementary', { name: 'Sidebar' })).toBeHidden();
    const body = page.getByRole('tree', { name: 'Body as JSON' });
    await expect(body.getByText('"item 119"')).toBeVisible();
    const noteOf = () =>
      body
        .locator('..')
        .evaluate((parent) => parent.ownerDocument.defaultView?.getComputedStyle(parent, '::before').content);
    expect(await noteOf(), 'the whole body is printed').toBe('none');
    const hidden = await body.evaluate((tree) => {
      const { bottom } = tree.getBoundingClientRect();
      return tree.scrollHeight - tree.clientHeight + bottom - tree.ownerDocument.documentElement.scrollHeight;
    });
    expect(hidden, 'lines that no page has').toBeLessThanOrEqual(0);
    await page.setViewportSize(size);
    await page.emulateMedia({ media: 'screen' });
    await expect(search, 'after printing').toHaveValue('item 7');
    await expect(search).toBeFocused();
    await row(page, 0).click();
    await expect(body.getByText('2999')).toHaveCount(0);
    await page.emulateMedia({ media: 'print' });
    expect(await noteOf()).toContain('Only the part that is on the screen.');
    await page.emulateMedia({ media: 'screen' });
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Command palette' });
    await expect(dialog).toBeVisible();
    await page.emulateMedia({ media: 'print' });
    await expect(dialog, 'an open dialog is printed').toBeVisible();
    await page.emulateMedia({ media: 'screen' });
    await pressEscape(page);
    await expect(dialog).toBeHidden();
  });

  await test.step('the comparison shows differences in path and query; Escape closes it', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 }, '/first?attempt=1&same=yes');
    await sendJson(endpoint.url, { a: 1 }, '/second?attempt=2&same=yes');
    await goTo(page, `/endpoints/${endpoint.uid}?request=1&compare=0`);
    const compare = page.getByRole('region', { name: 'Compare requests' });
    const line = compare.getByRole('table', { name: 'Request' });
    await expect(line.getByText('/first')).toBeVisible();
    await expect(line.getByText('/second')).toBeVisible();
    await expect(line.getByText('POST')).toHaveCount(0);
    const query = compare.getByRole('table', { name: 'Query Params' });
    await expect(query.getByRole('row').filter({ hasText: 'attempt' })).toHaveText(
      '−attempt: [removed: 1]+attempt: [added: 2]',
    );
    await expect(query.getByText('yes')).toHaveCount(0);
    await page.keyboard.press('Escape');
    await expect(compare).toHaveCount(0);
    await expect(row(page, 1)).toHaveAttribute('aria-selected', 'true');
  });
});
