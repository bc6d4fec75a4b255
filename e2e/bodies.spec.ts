// Bodies are shown by their content instead of their content type, decoded, and large ones from their beginning.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from './app.ts';
import { createEndpoint, detailsOf, goLive, openLive, row, send } from './endpoints.ts';
import { allowClipboard, clipboard, holdCalls } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

/** Records in `counts` what the search in a body shows beside its field. */
const RECORD_COUNT = `counts = [];
  const count = document.querySelector('[role="search"]:has([aria-label="Search inside"]) [role="status"]');
  new MutationObserver(() => counts.push(count.textContent)).observe(count, { childList: true, characterData: true, subtree: true });`;

test('a body is shown by its content and decoded, and its parts can be opened, found and copied', async ({
  page,
  context,
  person: _,
}) => {
  await test.step('a body is shown decoded and by its content: codings, images, bytes, and wrong declarations', async () => {
    const endpoint = await createEndpoint(page);
    const codings = [
      ['gzip', Buffer.concat([gzipSync('{"packed":'), gzipSync('true}')])],
      ['deflate', deflateSync('{"packed":true}')],
      ['br', brotliCompressSync('{"packed":true}')],
    ] as const;
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    for (const [coding, body] of codings) {
      await send(endpoint.url, { body, headers: { 'content-type': 'application/json', 'content-encoding': coding } });
    }
    await send(endpoint.url, { body: pixel, headers: { 'content-type': 'image/png' } });
    await send(endpoint.url, {
      body: Uint8Array.of(0, 1, 2, 0xff, 0x41),
      headers: { 'content-type': 'application/octet-stream' },
    });
    await send(endpoint.url, {
      body: '{"plain":1}',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    await send(endpoint.url, { body: 'just words', headers: { 'content-type': 'application/json' } });
    await send(endpoint.url, {
      body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      headers: { 'content-type': 'image/png' },
    });
    await send(endpoint.url, { body: pixel.subarray(0, 40), headers: { 'content-type': 'image/png' } });
    await send(endpoint.url, {
      body: Buffer.from('{"name":"Zo\xeb"}', 'latin1'),
      headers: { 'content-type': 'application/json' },
    });
    await openLive(page, endpoint);

    for (const [index, [coding, bytes]] of codings.entries()) {
      await row(page, index).click();
      await expect(
        detailsOf(page, index).getByText(`Decoded from ${coding}: ${bytes.length} B as sent, 15 B decoded.`),
      ).toBeVisible();
      await expect(detailsOf(page, index).getByRole('tree').getByText('"packed"')).toBeVisible();
    }

    await row(page, 3).click();
    const image = detailsOf(page, 3).getByRole('img', { name: 'The captured body' });
    await expect(image).toHaveJSProperty('naturalWidth', 1);
    await row(page, 4).click();
    await expect(detailsOf(page, 4).getByText('00 01 02 ff 41')).toBeVisible();

    await row(page, 5).click();
    await expect(detailsOf(page, 5).getByText('The body is not valid gzip. Shown as it came, 11 B.')).toBeVisible();
    await expect(detailsOf(page, 5).getByRole('tree').getByText('"plain"')).toBeVisible();
    await row(page, 6).click();
    await expect(detailsOf(page, 6).getByText('This body is not JSON')).toBeVisible();
    await detailsOf(page, 6).getByRole('button', { name: 'Show Raw' }).click();
    await expect(detailsOf(page, 6).getByText('just words')).toBeVisible();
    await row(page, 7).click();
    await expect(detailsOf(page, 7).getByRole('tab', { name: 'Image' })).toHaveCount(0);
    await expect(detailsOf(page, 7).locator('img')).toHaveCount(0);
    await row(page, 8).click();
    await expect(detailsOf(page, 8).getByText('It is incomplete or damaged.')).toBeVisible();
    await row(page, 9).click();
    await detailsOf(page, 9).getByRole('tab', { name: 'JSON' }).click();
    await expect(detailsOf(page, 9).getByText('The first invalid byte is at offset 0000000b in hex.')).toBeVisible();
  });

  await test.step('a body is shown in the form that its content has, and its parts can be opened, found and copied', async () => {
    const endpoint = await createEndpoint(page);
    await allowClipboard(context);
    const cutOff = '{"order": "A-1042", "lines": [1, 2';
    const json = { 'content-type': 'application/json' };
    await send(endpoint.url, { body: '{"n":1}\n{"n":2}\n', headers: { 'content-type': 'application/x-ndjson' } });
    await send(endpoint.url, { body: cutOff, headers: json });
    await send(endpoint.url, { body: '{"as":"text"}', headers: { 'content-type': 'text/plain' } });
    await send(endpoint.url, { body: JSON.stringify({ مفتاح: 'قيمة', turned: 'a\u202Eb' }), headers: json });
    await send(endpoint.url, {
      body: '<?xml version="1.0"?><order id="A-1042"><!-- paid --><total>12</total></order>',
      headers: { 'content-type': 'application/xml' },
    });
    await send(endpoint.url, { method: 'GET', path: '/search?q=creel' });
    await send(endpoint.url, {
      body: '{"data":{"items":[{"sku":"A1"}]}}',
      headers: { 'content-type': 'application/json' },
    });
    const base64 = (value: string) => Buffer.from(value).toString('base64');
    const message = { Records: [{ detail: '{"deep":true}' }] };
    await send(endpoint.url, {
      body: JSON.stringify({
        Message: JSON.stringify(message),
        data: base64('a line of plain text'),
        token: `${base64('{"alg":"HS256"}')}.${base64('{"sub":"marta"}')}.c2ln`.replaceAll('=', ''),
        created: 1_795_242_117,
      }),
      headers: { 'content-type': 'application/json' },
    });
    const body = new Uint8Array([0x63, 0x61, 0x66, 0xe9]);
    await send(endpoint.url, { body, headers: { 'content-type': 'text/plain; charset=iso-8859-1' } });
    const form = new URLSearchParams({ payload: '{"ref":"refs/heads/main","id":9007199254740993}', kind: 'push' });
    await send(endpoint.url, { body: form });
    await goLive(page, endpoint);

    await test.step('JSON in the field of a form is formatted', async () => {
      await row(page, 9).click();
      const tree = detailsOf(page, 9).getByRole('tree', { name: 'payload as JSON' });
      await expect(tree.getByRole('treeitem')).toHaveCount(4);
      await expect(tree).toContainText('"id": 9007199254740993');
      await expect(detailsOf(page, 9).getByRole('tree')).toHaveCount(1);
    });

    await test.step('text in a declared character set is decoded and marked, and its bytes stay available', async () => {
      await row(page, 8).click();
      await expect(detailsOf(page, 8).getByText('The text was decoded from iso-8859-1')).toBeVisible();
      await expect(detailsOf(page, 8).getByRole('region', { name: 'Body as text' })).toHaveText('café');
      await detailsOf(page, 8).getByRole('tab', { name: 'Hex' }).click();
      await expect(detailsOf(page, 8).getByText('63 61 66 e9')).toBeVisible();
    });

    await test.step('JSON in a string, base64, a token and a time open in place, with pointer and keyboard', async () => {
      await row(page, 7).click();
      const tree = detailsOf(page, 7).getByRole('tree', { name: 'Body as JSON' });
      const line = (text: string) => tree.getByRole('treeitem').filter({ hasText: text }).first();
      const mark = (text: string, name: string) => line(text).getByText(name, { exact: true });

      await expect(line('"Message"')).toHaveAttribute('aria-expanded', 'false');
      await mark('"Message"', 'JSON').click();
      const inner = tree.getByRole('tree', { name: 'Embedded JSON' });
      await expect(inner.getByText('"Records"')).toBeVisible();
      await inner.getByRole('treeitem').filter({ hasText: '"detail"' }).getByText('JSON', { exact: true }).click();
      await expect(inner.getByRole('tree').getByText('"deep"')).toBeVisible();
      // Only the line under the pointer offers to copy.
      await line('"Message"').getByText('"Message"').hover();
      await expect(tree.locator('[aria-hidden] > [data-do="path"]').filter({ visible: true })).toHaveCount(1);
      await mark('"data"', 'Base64').click();
      await expect(tree.getByRole('region', { name: 'Decoded base64' })).toHaveText('a line of plain text');
      // The marks under the pointer may cover the end of a long line, so the arrow before it opens it too.
      await line('"token"').locator('[aria-hidden][data-do="open"]').click();
      await expect(tree.getByRole('tree', { name: 'Payload of the token' }).getByText('"marta"')).toBeVisible();
      await expect(tree.getByText('The signature is not checked.')).toBeVisible();

      // By keyboard, an arrow opens and closes the last value.
      await tree.focus();
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowRight');
      await expect(tree.getByText('Nov 21, 2026, 06:21:57.000 UTC')).toBeVisible();
      await page.keyboard.press('ArrowLeft');
      await expect(tree.getByText('Nov 21, 2026, 06:21:57.000 UTC')).toHaveCount(0);
    });

    await test.step('a line that is folded away leaves the keyboard at the line that is folded', async () => {
      await row(page, 6).click();
      const tree = detailsOf(page, 6).getByRole('tree', { name: 'Body as JSON' });
      const active = tree.locator('[data-active]');
      await tree.focus();
      for (let lines = 0; lines < 4; lines++) await page.keyboard.press('ArrowDown');
      await expect(active).toContainText('"sku"');
      const run = async (command: string): Promise<void> => {
        await page.keyboard.press('ControlOrMeta+k');
        await page.keyboard.type(command);
        await page.keyboard.press('Enter');
      };
      await run('fold all json');
      await expect(tree.getByRole('treeitem')).toHaveCount(3);
      await expect(active).toContainText('"data"');
      await tree.focus();
      await page.keyboard.press('ArrowDown');
      await expect(active).toHaveText(/\}$/);
      await run('unfold all json');
      await expect(tree.getByRole('treeitem')).toHaveCount(9);
    });

    await test.step('a value and its path are copied from the line under the pointer', async () => {
      await row(page, 6).click();
      const line = detailsOf(page, 6).getByRole('treeitem').filter({ hasText: '"sku"' });
      await line.hover();
      const copied = () => clipboard(page);
      await line.locator('[aria-hidden] > [data-do="path"]').click();
      await expect.poll(copied).toBe('data.items[0].sku');
      await line.locator('[aria-hidden] > [data-do="value"]').click();
      await expect.poll(copied).toBe('A1');
    });

    await test.step('without a body, the query parameters are above the headers', async () => {
      await row(page, 5).click();
      await expect(detailsOf(page, 5).getByRole('tab', { name: /^Headers/ })).toHaveAttribute('aria-selected', 'true');
      const query = detailsOf(page, 5).getByRole('table', { name: 'Query parameters' });
      const headers = detailsOf(page, 5).getByRole('table', { name: 'Headers' });
      await expect(query.getByRole('cell')).toHaveText('creel');
      expect((await query.boundingBox())?.y).toBeLessThan((await headers.boundingBox())?.y ?? 0);
    });

    await test.step('XML is formatted and colored, and its search works across the colors', async () => {
      await row(page, 4).click();
      const text = detailsOf(page, 4).getByRole('region', { name: 'Body as text' });
      await expect(text).toHaveText(/<order id="A-1042">\n {2}<!-- paid -->\n {2}<total>12<\/total>\n<\/order>$/, {
        useInnerText: true,
      });
      for (const [piece, color] of [
        ['<total', 'rgb(138, 59, 18)'],
        ['id', 'rgb(37, 99, 196)'],
        ['"A-1042"', 'rgb(11, 110, 105)'],
      ] as const)
        await expect(text.getByText(piece, { exact: true })).toHaveCSS('color', color);
      await page.keyboard.press('f');
      await page.getByRole('textbox', { name: 'Search inside' }).fill('id="a-1042">');
      await expect(detailsOf(page, 4).getByText('1 of 1')).toBeVisible();
      expect((await text.locator('mark').allInnerTexts()).join('')).toBe('id="A-1042">');
      await page.keyboard.press('Escape');
    });

    await test.step('JSON is shown in every form: right-to-left, as text, cut off, several values', async () => {
      await row(page, 3).click();
      const tree = detailsOf(page, 3).getByRole('tree');
      const key = await tree.getByText('"مفتاح"').boundingBox();
      const value = await tree.getByText('"قيمة"').boundingBox();
      expect((key?.x ?? 0) + (key?.width ?? 0)).toBeLessThan(value?.x ?? 0);
      await expect(tree.getByText(String.raw`"a\u202eb"`), 'bidirectional controls are visible').toBeVisible();

      // JSON that was sent as text is formatted first in Raw, and its text is one tab away.
      await row(page, 2).click();
      const sentAsText = detailsOf(page, 2);
      await expect(sentAsText.getByRole('tab', { name: 'Raw' })).toHaveAttribute('aria-selected', 'true');
      await expect(sentAsText.getByRole('tab', { name: 'Formatted' })).toHaveAttribute('aria-selected', 'true');
      await expect(sentAsText.getByRole('tree').getByText('"as"')).toBeVisible();
      await sentAsText.getByRole('tab', { name: 'Text' }).click();
      await expect(sentAsText.getByRole('region', { name: 'Body as text' })).toHaveText('{"as":"text"}');

      // JSON that was cut off shows its text below the error.
      await row(page, 1).click();
      const error = detailsOf(page, 1).getByText('The text ends before the JSON is complete.');
      const text = detailsOf(page, 1).getByRole('region', { name: 'Body as text' });
      await expect(text).toHaveText(cutOff);
      expect((await error.boundingBox())?.y).toBeLessThan((await text.boundingBox())?.y ?? 0);

      await row(page, 0).click();
      await expect(detailsOf(page, 0).getByText('2 JSON values, one after the other.')).toBeVisible();
      await expect(detailsOf(page, 0).getByRole('treeitem')).toHaveCount(6);
      await page.keyboard.press('f');
      await page.getByRole('textbox', { name: 'Search inside' }).fill('n');
      await expect(detailsOf(page, 0).getByText('1 of 2')).toBeVisible();
    });
  });

  await test.step('the rest of a body arrives without moving its beginning', async () => {
    const endpoint = await createEndpoint(page);
    const items = Array.from({ length: 4000 }, (__, at) => ({ at, text: `item number ${at}` }));
    await send(endpoint.url, { body: JSON.stringify(items), headers: { 'content-type': 'application/json' } });
    const held = await holdCalls(page, /\/body$/);
    await goLive(page, endpoint);
    const note = detailsOf(page, 0).getByText(/The first 16\.0 KB of/);
    const tree = detailsOf(page, 0).getByRole('tree');
    await expect(note).toBeVisible();
    const before = await tree.boundingBox();
    held.release();
    await expect(note).toHaveCount(0);
    expect(await tree.boundingBox()).toEqual(before);
  });

  await test.step('the columns of a hex view in a narrow pane do not move after they are painted', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url, { body: 'first' });
    await send(endpoint.url, { body: Buffer.from(Array.from({ length: 4000 }, (__, at) => (at * 7) % 256)) });
    await goLive(page, endpoint, '?request=0');
    await expect(detailsOf(page, 0)).toBeVisible();
    await page.evaluate(`
      globalThis.moved = [];
      new PerformanceObserver((list) => {
        for (const { sources } of list.getEntries())
          for (const { node } of sources)
            if (node?.parentElement?.closest('[aria-label="Body in hex"]')) globalThis.moved.push(node.textContent);
      }).observe({ type: 'layout-shift' });`);
    await row(page, 1).click();
    await expect(detailsOf(page, 1).getByRole('region', { name: 'Body in hex' })).toBeVisible();
    await page.evaluate('new Promise((drawn) => setTimeout(() => requestAnimationFrame(() => setTimeout(drawn))))');
    expect(await page.evaluate('globalThis.moved')).toEqual([]);
  });

  await test.step('what is not listed or copied is named', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url, { body: Buffer.alloc(300_000, 0xff) });
    const parts = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(1001);
    await send(endpoint.url, { body: `${parts}--b--`, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
    await goLive(page, endpoint);
    await expect(detailsOf(page, 1).getByText('The first 1,000 parts. Hex has the whole body.')).toBeVisible();
    await row(page, 0).click();
    await detailsOf(page, 0).getByRole('button', { name: 'Show all' }).click();
    await expect(detailsOf(page, 0).getByRole('button', { name: 'Copy the first 256 KB as hex' })).toBeVisible();
    const part = (name: string, size: number) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n${'x'.repeat(size)}\r\n`;
    const files = `${part('small', 2048)}${part('large', 300 * 1024)}--b--`;
    await send(endpoint.url, { body: files, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
    await row(page, 2).click();
    const shown = detailsOf(page, 2);
    await expect(shown.getByText('The first 253.', { exact: false })).toBeVisible();
    await expect(shown.getByRole('button', { name: 'Download small' })).toBeVisible();
    await expect(shown.getByRole('button', { name: 'Download large' })).toHaveCount(0);
    await shown.getByRole('button', { name: 'Show all' }).click();
    await expect(shown.getByText('300.0 KB', { exact: true })).toBeVisible();
    await expect(shown.getByRole('button', { name: 'Download large' })).toBeVisible();
  });

  await test.step('a large body shows its beginning immediately and the rest on request', async () => {
    const endpoint = await createEndpoint(page);
    const items = Array.from({ length: 40_000 }, (__, at) => ({ at, text: `item number ${at}` }));
    const large = {
      body: JSON.stringify({ items, last: 'the very end' }),
      headers: { 'content-type': 'application/json' },
    };
    await send(endpoint.url, large);
    await send(endpoint.url, large);
    await goLive(page, endpoint);
    const other = detailsOf(page, 1);
    await expect(other.getByText(/The first 256\.0 KB of/)).toBeVisible();
    await other.getByRole('button', { name: 'Search inside' }).click();
    await page.evaluate(RECORD_COUNT);
    await page.getByRole('textbox', { name: 'Search inside' }).fill('the very end');
    await expect(other.getByText('1 of 1')).toBeVisible();
    expect(await page.evaluate('counts'), 'no “Not found” while the rest is loaded').toEqual(['1 of 1']);
    await expect(other.getByText(/The first/)).toHaveCount(0);
    await expect(page.getByRole('textbox', { name: 'Search inside' })).toBeFocused();
    await row(page, 0).click();
    const shown = detailsOf(page, 0);
    await expect(shown.getByText(/The first 256\.0 KB of/)).toBeVisible();
    await expect(shown.getByRole('tree').getByText('"item number 0"')).toBeVisible();
    await shown.getByRole('button', { name: 'Show all' }).click();
    await expect(shown.getByText(/The first/)).toHaveCount(0);
    await shown.getByRole('button', { name: 'Search inside' }).click();
    await page.evaluate(RECORD_COUNT);
    await page.getByRole('textbox', { name: 'Search inside' }).fill('the very end');
    await expect(shown.getByText('1 of 1')).toBeVisible();
    expect(await page.evaluate('counts'), 'no “Not found” while it is searched').toEqual(['1 of 1']);
    await page.getByRole('textbox', { name: 'Search inside' }).fill('item number');
    await expect(shown.getByText('1 of 10000+')).toBeVisible();
    await page.getByRole('textbox', { name: 'Search inside' }).fill('the very end of it');
    await expect(shown.getByText('Not found')).toBeVisible();
    await page.getByRole('textbox', { name: 'Search inside' }).fill('the very end');
    await expect(shown.getByRole('tree').locator('mark')).toBeVisible();
    await shown.getByRole('tab', { name: 'Raw' }).click();
    const text = shown.getByRole('region', { name: 'Body as text' });
    const hidden = () => text.evaluate((frame) => frame.scrollWidth - frame.clientWidth);
    await expect.poll(hidden, 'a long line is wrapped').toBe(0);
  });
});
