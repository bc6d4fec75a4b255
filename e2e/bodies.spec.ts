// Bodies are shown by their content instead of their content type, decoded, and large ones from their beginning.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { expect, test } from './app.ts';
import { openLive, row, send } from './endpoints.ts';

const details = (page: Page, index: number) => page.getByRole('region', { name: `Request ${index}` });

for (const [coding, bytes] of [
  ['gzip', gzipSync('{"packed":true}')],
  ['deflate', deflateSync('{"packed":true}')],
  ['br', brotliCompressSync('{"packed":true}')],
] as const) {
  test(`a body with content coding ${coding} is shown decoded, with both sizes`, async ({ page, endpoint }) => {
    await send(endpoint.url, {
      body: bytes,
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
    });
    await openLive(page, endpoint);
    await expect(
      details(page, 0).getByText(`Decoded from ${coding}: ${bytes.length} B as sent, 15 B decoded.`),
    ).toBeVisible();
    await expect(details(page, 0).getByRole('tree').getByText('"packed"')).toBeVisible();
  });
}

test('a body with a wrong content coding or type is shown by its content', async ({ page, endpoint }) => {
  await send(endpoint.url, {
    body: '{"plain":1}',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  });
  await send(endpoint.url, { body: 'just words', headers: { 'content-type': 'application/json' } });
  await send(endpoint.url, {
    body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    headers: { 'content-type': 'image/png' },
  });
  await openLive(page, endpoint);
  await row(page, 0).click();
  await expect(details(page, 0).getByText('The body is not valid gzip. Shown as it came, 11 B.')).toBeVisible();
  await expect(details(page, 0).getByRole('tree').getByText('"plain"')).toBeVisible();
  await row(page, 1).click();
  await expect(details(page, 1).getByText('This body is not JSON')).toBeVisible();
  await details(page, 1).getByRole('button', { name: 'Show Raw' }).click();
  await expect(details(page, 1).getByText('just words')).toBeVisible();
  await row(page, 2).click();
  await expect(details(page, 2).getByRole('tab', { name: 'Image' })).toHaveCount(0);
  await expect(details(page, 2).locator('img')).toHaveCount(0);
});

test('images are shown as images, bytes in hex', async ({ page, endpoint }) => {
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await send(endpoint.url, { body: pixel, headers: { 'content-type': 'image/png' } });
  await send(endpoint.url, {
    body: Uint8Array.of(0, 1, 2, 0xff, 0x41),
    headers: { 'content-type': 'application/octet-stream' },
  });
  await openLive(page, endpoint);
  await row(page, 0).click();
  const image = details(page, 0).getByRole('img', { name: 'The captured body' });
  await expect(image).toHaveJSProperty('naturalWidth', 1);
  await row(page, 1).click();
  await expect(details(page, 1).getByText('00 01 02 ff 41')).toBeVisible();
});

test('a large body shows its beginning immediately and the rest on request', async ({ page, endpoint }) => {
  const items = Array.from({ length: 40_000 }, (_, at) => ({ at, text: `item number ${at}` }));
  await send(endpoint.url, {
    body: JSON.stringify({ items, last: 'the very end' }),
    headers: { 'content-type': 'application/json' },
  });
  await openLive(page, endpoint);
  const shown = details(page, 0);
  await expect(shown.getByText(/The first 256\.0 KB of/)).toBeVisible();
  await expect(shown.getByRole('tree').getByText('"item number 0"')).toBeVisible();
  await shown.getByRole('button', { name: 'Show all' }).click();
  await expect(shown.getByText(/The first/)).toHaveCount(0);
  await shown.getByRole('button', { name: 'Search inside' }).click();
  await page.getByRole('textbox', { name: 'Search inside' }).fill('the very end');
  await expect(shown.getByText('1 of 1')).toBeVisible();
  await expect(shown.getByRole('tree').locator('mark')).toBeVisible();
});

test('text in a declared character set is decoded and marked, and its bytes stay available', async ({
  page,
  endpoint,
}) => {
  const body = new Uint8Array([0x63, 0x61, 0x66, 0xe9]);
  await send(endpoint.url, { body, headers: { 'content-type': 'text/plain; charset=iso-8859-1' } });
  await openLive(page, endpoint, '?request=0&tab=raw');
  await expect(details(page, 0).getByText('The text was decoded from iso-8859-1')).toBeVisible();
  await expect(details(page, 0).getByRole('region', { name: 'Body as text' })).toHaveText('café');
  await details(page, 0).getByRole('tab', { name: 'Hex' }).click();
  await expect(details(page, 0).getByText('63 61 66 e9')).toBeVisible();
});

test('right-to-left text in JSON keeps its order, and bidirectional controls are visible', async ({
  page,
  endpoint,
}) => {
  await send(endpoint.url, {
    body: JSON.stringify({ مفتاح: 'قيمة', turned: 'a\u202Eb' }),
    headers: { 'content-type': 'application/json' },
  });
  await openLive(page, endpoint);
  const tree = details(page, 0).getByRole('tree');
  const key = await tree.getByText('"مفتاح"').boundingBox();
  const value = await tree.getByText('"قيمة"').boundingBox();
  expect((key?.x ?? 0) + (key?.width ?? 0)).toBeLessThan(value?.x ?? 0);
  await expect(tree.getByText(String.raw`"a\u202eb"`)).toBeVisible();
});

test('JSON lines are formatted value by value', async ({ page, endpoint }) => {
  await send(endpoint.url, { body: '{"n":1}\n{"n":2}\n', headers: { 'content-type': 'application/x-ndjson' } });
  await openLive(page, endpoint);
  await expect(details(page, 0).getByText('2 JSON values, one after the other.')).toBeVisible();
  await expect(details(page, 0).getByRole('treeitem')).toHaveCount(6);
  await page.keyboard.press('f');
  await page.getByRole('textbox', { name: 'Search inside' }).fill('n');
  await expect(details(page, 0).getByText('1 of 2')).toBeVisible();
});
