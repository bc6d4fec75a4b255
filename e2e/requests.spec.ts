// Actions on captured requests: view, save, delete, filter, search inside, page back, select several, compare, copy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Dialog } from '@playwright/test';
import { firstHeader } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { expect, pressEscape, test, toast } from './app.ts';
import {
  changeEndpoint,
  createEndpoint,
  detailsOf,
  expectShownWhole,
  filterField,
  goLive,
  goTo,
  list,
  openLive,
  reportAttempt,
  row,
  rows,
  selectionBar,
  send,
  sendJson,
  sendMany,
  unsaved,
} from './endpoints.ts';
import { allowClipboard, clipboard, DESKTOP, PHONE } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

/** Runs a script as if it were pasted into a shell. Rejects if it fails. */
async function runScript(script: string): Promise<void> {
  const shell = spawn('bash', ['-s'], { stdio: ['pipe', 'ignore', 'ignore'] });
  shell.stdin.end(script);
  const [code]: unknown[] = await once(shell, 'close');
  if (code !== 0) throw new Error(`bash ended with ${String(code)}`);
}

test('requests are saved, deleted, read, compared and copied', async ({ page, context, person: _ }) => {
  await test.step('a request is saved, and deleted after the browser asked', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    await openLive(page, endpoint);
    await expect(row(page, 0)).toHaveAttribute('aria-selected', 'true');
    const details = detailsOf(page, 0);
    await expect(details.getByText('Unsaved')).toBeVisible();
    await details.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByText('The webhook request has been saved successfully.').first()).toBeVisible();
    await expect(details.getByText('Unsaved')).toHaveCount(0);
    await expect(details.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
    await expect(row(page, 0)).not.toContainText('Unsaved');

    const asked: string[] = [];
    const answer = (dialog: Dialog): void => {
      asked.push(dialog.message());
      void (asked.length === 1 ? dialog.dismiss() : dialog.accept());
    };
    page.on('dialog', answer);
    await row(page, 0).hover();
    await row(page, 0).getByRole('button').last().click();
    await expect(row(page, 0)).toBeVisible();
    await row(page, 0).getByRole('button', { name: 'Delete request' }).click();
    await expect(page.getByText('No requests received yet.')).toBeVisible();
    expect(asked).toEqual(Array(2).fill('Are you sure you want to delete this request?'));
    page.off('dialog', answer);
  });

  await test.step('JSON keeps its digits, order and duplicate keys, and can be folded, copied and searched', async () => {
    await allowClipboard(context);
    const endpoint = await createEndpoint(page);
    const body = String.raw`{"big":12345678901234567890.10,"b":{"x":[1,{"deep":"v\u00e9"}]},"a":1,"a":2}`;
    await send(endpoint.url, { body, headers: { 'content-type': 'application/json' } });
    await goLive(page, endpoint);
    const tree = page.getByRole('tree', { name: 'Body as JSON' });
    await expect(tree.getByText('12345678901234567890.10')).toBeVisible();
    await expect(tree.getByText('"a"')).toHaveCount(2);
    await tree.getByText('"deep"').click();
    await expect.poll(() => clipboard(page)).toBe('b.x[1].deep');
    await tree.getByText(String.raw`"v\u00e9"`).click();
    await expect.poll(() => clipboard(page)).toBe('vé');
    await tree.locator('[data-do="fold"][data-line="2"]').first().click();
    await expect(tree.getByText('{ 1 key }')).toBeVisible();
    await expect(tree.getByText('"deep"')).toHaveCount(0);

    await page.getByRole('button', { name: 'Search inside' }).click();
    await page.getByRole('textbox', { name: 'Search inside' }).fill('deep');
    await expect(page.getByRole('search').getByText('1 of 1')).toBeVisible();
    await expect(tree.locator('mark')).toHaveText('deep');
    await pressEscape(page);
    await expect(tree.locator('mark')).toHaveCount(0);
  });

  await test.step('several requests are saved and deleted at once, two are compared', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 5; at++) await sendJson(endpoint.url, { at, same: true });
    await goLive(page, endpoint);
    const bar = selectionBar(page);
    await row(page, 3).getByRole('checkbox').click();
    await row(page, 1)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await expect(bar).toContainText('3 selected');
    await bar.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('3 requests saved').first()).toBeVisible();
    await expect(row(page, 2)).not.toContainText('Unsaved');
    page.once('dialog', (dialog) => void dialog.accept());
    await bar.getByRole('button', { name: 'Delete' }).click();
    await expect(rows(page)).toHaveCount(2);

    await row(page, 4).getByRole('checkbox').click();
    await row(page, 0).getByRole('checkbox').click();
    await bar.getByRole('button', { name: 'Compare' }).click();
    const compare = page.getByRole('region', { name: 'Compare requests' });
    await expect(compare.getByText('"at": [removed: 0]')).toBeVisible();
    await expect(compare.getByText('"at": [added: 4]')).toBeVisible();
    await compare.getByRole('button', { name: 'Back' }).click();
    await expect(row(page, 4)).toBeVisible();
  });
});

test('requests are viewed by pointer and keys, until a logout elsewhere', async ({ page, endpoint }) => {
  await send(endpoint.url, { method: 'GET', path: '/?a=1&a=2' });
  await send(endpoint.url, { body: '<p>hi</p>', headers: { 'content-type': 'text/html' } });
  await send(endpoint.url, {
    body: new Uint8Array([123, 125]),
    headers: { 'content-type': 'application/octet-stream' },
  });
  await openLive(page, endpoint);

  await test.step('each request opens with the tab that its content asks for, and the address keeps what is looked at', async () => {
    const tab = (index: number, name: string) => detailsOf(page, index).getByRole('tab', { name, exact: true });
    for (const [index, name] of [
      [0, 'Headers'],
      [1, 'Raw'],
      [2, 'JSON'],
    ] as const) {
      await row(page, index).click();
      await expect(tab(index, name)).toHaveAttribute('data-state', 'active');
    }
    await row(page, 0).click();
    await tab(0, 'Query Params').click();
    await page.getByRole('tab', { name: 'GET' }).click();
    await expect(row(page, 1)).toHaveCount(0);
    await page.reload();
    await expect(tab(0, 'Query Params')).toHaveAttribute('data-state', 'active');
    await expect(page.getByRole('table', { name: 'Query parameters' }).getByRole('row')).toHaveCount(3);
    await expect(row(page, 0)).toHaveAttribute('aria-selected', 'true');
    await expect(row(page, 1)).toHaveCount(0);
    await page.getByRole('tab', { name: 'All Requests' }).click();
  });

  await test.step('the keys of the page: j, k, 1 to 4, s, x', async () => {
    await row(page, 2).click();
    await expect(row(page, 2)).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('j');
    await expect(row(page, 1)).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('k');
    await expect(row(page, 2)).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('2');
    const headers = page.getByRole('table', { name: 'Headers' });
    await expect(headers).toBeVisible();
    await page.keyboard.press('f');
    await page.getByRole('textbox', { name: 'Search inside' }).fill('content-type');
    await expect(headers.getByRole('rowheader')).toHaveText(['content-type']);
    await page.keyboard.press('Escape');
    await expect(headers.getByRole('rowheader')).not.toHaveCount(1);
    await page.keyboard.press('s');
    await expect(row(page, 2)).not.toContainText('Unsaved');
    await page.keyboard.press('x');
    await expect(selectionBar(page)).toContainText('1 selected');
    await page.keyboard.press('Escape');
  });

  await test.step('the menu of a row opens by keyboard, and a middle click opens a new tab', async () => {
    await row(page, 1).click();
    await expect(detailsOf(page, 1)).toBeVisible();
    await list(page).focus();
    const menu = page.getByRole('menu', { name: 'Request' });
    for (const key of ['Shift+F10', 'ContextMenu']) {
      await page.keyboard.press(key);
      await expect(menu.getByRole('menuitem', { name: 'View details' }), key).toBeFocused();
      await pressEscape(page);
      await expect(menu).toHaveCount(0);
      await expect(list(page), key).toBeFocused();
    }
    await page.keyboard.press('Shift+F10');
    const [fromMenu] = await Promise.all([
      page.waitForEvent('popup'),
      menu.getByRole('menuitem', { name: 'Open in new tab' }).press('Enter'),
    ]);
    await expect(row(fromMenu, 1)).toHaveAttribute('aria-selected', 'true');
    await fromMenu.close();
    const [opened] = await Promise.all([page.waitForEvent('popup'), row(page, 0).click({ button: 'middle' })]);
    await expect(row(opened, 0)).toHaveAttribute('aria-selected', 'true');
    await expect(row(page, 1)).toHaveAttribute('aria-selected', 'true');
    await opened.close();
  });

  await test.step('a copied link opens the request, and says for whom', async () => {
    await allowClipboard(page.context());
    await detailsOf(page, 1).getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy link' }).click();
    const note = 'Only your account can open it. For others, download the HAR or copy the request.';
    await expect(toast(page, note)).toBeVisible();
    expect(new URL(await clipboard(page)).search).toBe('?request=1');
  });

  await test.step('signed out elsewhere, saving says what it needs', async () => {
    await row(page, 0).click();
    await page.request.post('/api/logout');
    await expect(page.getByRole('dialog')).toBeVisible();
    await expect(page.getByText('Authentication Required')).toBeVisible();
  });

  await test.step('the dialog about the session alone reports an action that needs it', async () => {
    await pressEscape(page);
    const save = detailsOf(page, 0).getByRole('button', { name: 'Save', exact: true });
    await expect(save).toBeDisabled();
    await expect(save).toHaveAccessibleDescription('Authentication required to save requests');
    await save.focus();
    await expect(page.getByRole('tooltip')).toHaveText('Authentication required to save requests');
    await page.getByRole('switch', { name: 'Autosave' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    // The first Escape would close a toast.
    await pressEscape(page);
    await expect(page.getByRole('dialog')).toBeHidden();
    await expect(page.getByRole('switch', { name: 'Autosave' })).not.toBeChecked();
  });
});

test('paging back through all stored requests', async ({ page, endpoint }) => {
  await sendMany(endpoint.url, 450, 1);
  for (const index of [3, 200, 420]) {
    await page.request.post(`/api/endpoints/${endpoint.uid}/save-request`, { data: { index } });
  }
  await openLive(page, endpoint);
  const grid = list(page);
  const seen = new Set<string>();
  await expect(async () => {
    const indexes = await rows(page).evaluateAll((all) => all.map((one) => one.getAttribute('data-index') ?? ''));
    for (const index of indexes) seen.add(index);
    // From the end it starts again, because a busy page may scroll past a row before it is drawn.
    await grid.evaluate((element) => {
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
      element.scrollTo(0, isAtEnd ? 0 : element.scrollTop + 500);
    });
    expect(seen.size).toBe(450);
  }).toPass({ timeout: 60_000, intervals: [30] });
  await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await expect(row(page, 3)).not.toContainText('Unsaved');
  await expect(row(page, 0)).toContainText('/order/0');
});

const NASTY = `'"\\$HOME \`id\` $(id) !! \n\r\t\u001b[31m é 😀 @file`;

const BODIES = [
  { name: 'text that a shell could take for its own', body: new TextEncoder().encode(NASTY) },
  { name: 'bytes of every value', body: Uint8Array.from({ length: 256 }, (_, byte) => byte) },
  { name: 'more than one argument holds', body: new TextEncoder().encode('x\n'.repeat(100_000)) },
];

test('the command from Copy as cURL sends the same request', async ({ page, context, endpoint }) => {
  await allowClipboard(context);
  for (const [nth, { name, body }] of BODIES.entries())
    await test.step(name, async () => {
      const index = await send(endpoint.url, {
        path: '/a/b?b=%7e&a=x%20y+z&b',
        body,
        headers: { 'content-type': 'text/plain', 'x-quote': `it's "q" $(x)` },
      });
      await (nth === 0 ? openLive : goLive)(page, endpoint, `?request=${index}`);
      await expect(detailsOf(page, index)).toBeVisible();
      // The message about the copy before may still be shown, so only the clipboard tells.
      await page.evaluate("navigator.clipboard.writeText('')");
      await page.getByRole('button', { name: 'Copy as cURL' }).click();
      await expect.poll(() => clipboard(page)).not.toBe('');
      await expect(page.getByText('Content Copied').first()).toBeVisible();
      await runScript(await clipboard(page));
      await expect(row(page, index + 1)).toBeVisible();
      const [again, first] = await unsaved(page, endpoint.uid);
      expect(await bytesOf(again)).toEqual(await bytesOf(first));
      expect(again?.rawTarget).toBe('/a/b?b=%7e&a=x%20y+z&b');
      for (const header of ['x-quote', 'content-type', 'user-agent', 'accept']) {
        expect(firstHeader(again?.rawHeaders ?? [], header), header).toBe(firstHeader(first?.rawHeaders ?? [], header));
      }
    });

  async function bytesOf(request: CapturedRequest | undefined): Promise<Buffer> {
    const answer = await page.request.get(`/api/endpoints/${endpoint.uid}/requests/${request?.id}/body`);
    return answer.body();
  }
});

const SIZES = [PHONE, { width: 1024, height: 768 }, DESKTOP];

test('at every width the filters work and the rows keep their position', async ({ page, endpoint }) => {
  await send(endpoint.url, { method: 'DELETE', path: '/a' });
  await send(endpoint.url, { path: '/b' });
  const filters = page.getByRole('tablist', { name: 'Filter by method' });
  const marked = selectionBar(page);
  const top = async () => (await row(page, 0).boundingBox())?.y;
  await openLive(page, endpoint);
  for (const size of SIZES) {
    await page.setViewportSize(size);

    await test.step('at every width every filter is seen and works', async () => {
      for (const name of ['All Requests', 'GET', 'POST', 'PUT', 'DELETE']) {
        await expect(filters.getByRole('tab', { name, exact: true }), `${size.width}`).toBeInViewport({ ratio: 1 });
      }
      await filters.getByRole('tab', { name: 'PUT' }).click();
      await expect(row(page, 0)).toHaveCount(0);
      await filters.getByRole('tab', { name: 'DELETE' }).click();
      await expect(row(page, 0)).toContainText('DELETE');
      await expect(filterField(page)).toBeInViewport({ ratio: 1 });
      await filters.getByRole('tab', { name: 'All Requests' }).click();
    });

    await test.step('at every width the rows keep their position when the first is selected', async () => {
      await row(page, 0).scrollIntoViewIfNeeded();
      const before = await top();
      for (const index of [0, 1]) await row(page, index).getByRole('checkbox').click();
      for (const name of ['Save', 'Replay', 'Export', 'Delete', 'Compare', 'Clear the selection']) {
        await expect(marked.getByRole('button', { name }), `${size.width}`).toBeInViewport({ ratio: 1 });
      }
      expect(await top(), `${size.width}`).toBe(before);
      await marked.getByRole('button', { name: 'Clear the selection' }).click();
    });
  }

  await test.step('beside its badges, a path is shown whole', async () => {
    await page.setViewportSize({ width: 1280, height: 720 });
    const index = await send(endpoint.url, { path: '/webhooks/stripe' });
    await reportAttempt(page, endpoint, index, 503);
    await expect(row(page, index)).toContainText('503');
    await expectShownWhole(row(page, index), '/webhooks/stripe');
  });

  await test.step('beside a long source, the sidebar shows the expiry whole', async () => {
    await changeEndpoint(page, endpoint, { source: 'A_source_of_one_word_'.repeat(4) });
    await page.reload();
    const entry = page.getByRole('complementary').getByRole('link', { name: 'Journey' });
    await expect(entry).toContainText('A_source');
    await expectShownWhole(entry, 'Expires');
  });
});

test('an endpoint on a narrow screen, and the URL of a deleted request', async ({ page, endpoint }) => {
  await page.setViewportSize(PHONE);

  await test.step('on a narrow screen an empty endpoint shows how to send to it, without scrolling', async () => {
    await page.goto(`/endpoints/${endpoint.uid}`);
    await expect(page.getByRole('button', { name: 'Send a test request' })).toBeInViewport({ ratio: 1 });
    await expect(page.getByText('Send a request to this endpoint to see it here.')).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole('tabpanel').locator('pre')).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole('tabpanel').locator('pre')).toHaveCSS('max-height', '400px');
    expect(await page.getByRole('tabpanel').locator('pre').innerText()).toContain(endpoint.uid);
  });

  await test.step('on a narrow screen the details cover the list', async () => {
    for (const a of [1, 2]) await sendJson(endpoint.url, { a });
    await expect(row(page, 1)).toBeVisible();
    await expect(detailsOf(page, 0)).toHaveCount(0);
    await row(page, 0).click();
    await expect(detailsOf(page, 0)).toBeVisible();
    await page.getByRole('button', { name: 'Back to the list' }).click();
    await expect(detailsOf(page, 0)).toHaveCount(0);
    await row(page, 0).click();
    await page.goBack();
    await expect(detailsOf(page, 0)).toHaveCount(0);

    // Back from the comparison leads to where it was opened: the list, or the details.
    for (const index of [1, 0]) await row(page, index).click({ modifiers: ['Control'] });
    await selectionBar(page).getByRole('button', { name: 'Compare' }).click();
    const back = page.getByRole('region', { name: 'Compare requests' }).getByRole('button', { name: 'Back' });
    await expect(back).toBeInViewport();
    await back.click();
    await expect(back).toHaveCount(0);
    await expect(page).not.toHaveURL(/request=/);
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    await row(page, 0).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: /compare/i }).click();
    await back.click();
    await expect(detailsOf(page, 0)).toBeVisible();
  });

  await test.step('on a narrow screen the URL of a deleted request shows the list', async () => {
    await goTo(page, `/endpoints/${endpoint.uid}?request=99`);
    await expect(page.getByText('This request is not stored any more')).toBeVisible();
    await page.getByRole('button', { name: 'Back to the list' }).click();
    await expect(row(page, 0)).toBeInViewport();
  });

  await test.step('the URL of a deleted request says so', async () => {
    await page.setViewportSize(DESKTOP);
    await goLive(page, endpoint, '?request=77');
    await expect(page.getByText('This request is not stored any more')).toBeVisible();
  });
});
