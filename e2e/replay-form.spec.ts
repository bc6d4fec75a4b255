// The replay form: its fields, errors, keyboard use and layout.
import type { Page } from '@playwright/test';
import { expect, pressEscape } from './app.ts';
import { expectNoFindings } from './axe.ts';
import { startTarget } from '../fixtures/target-server.ts';
import { createEndpoint, detailsOf, goLive, openLive, row, send, sendJson } from './endpoints.ts';
import { bodyField, methodField, openReplay, replayRow, response, sendButton, sendTo, urlField } from './replay.ts';
import { test } from './target.ts';
import { allowClipboard, answerWith, clipboard, DESKTOP, logIn, logOut, PHONE, problem } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

test('headers and the body are edited', async ({ page, context, endpoint, target }) => {
  await allowClipboard(context);
  await send(endpoint.url, { headers: { 'x-a': '1', 'x-b': '2' } });
  await sendJson(endpoint.url, { a: 1 });

  await test.step('the header table shows three rows until all are asked for; rows are added and removed', async () => {
    await openReplay(page, endpoint);
    const table = page.getByRole('table', { name: 'Headers to send' });
    const names = table.getByLabel(/^Name of header/);
    await expect(names).toHaveCount(3);
    await expect(table.locator('..')).toHaveCSS('max-height', '300px');
    const all = Number(/\((\d+)\)/.exec(await page.getByRole('button', { name: /^Show all/ }).innerText())?.[1]);
    await page.getByRole('button', { name: `Show ${all - 3} more headers` }).press('Enter');
    await expect(names).toHaveCount(all);
    await expect(page.getByLabel('Name of header 4')).toBeFocused();
    await page.getByRole('button', { name: 'Show fewer' }).click();
    await expect(names).toHaveCount(3);
    await page.getByRole('button', { name: 'Add header' }).press('Enter');
    await expect(names).toHaveCount(all + 1);
    await expect(page.getByLabel(`Name of header ${all + 1}`)).toBeFocused();
    // Enter in a row does not send the request.
    await urlField(page).fill(`${target.url}/too-early`);
    await page.getByLabel(`Name of header ${all + 1}`).press('Enter');
    await page.getByRole('button', { name: `Remove header ${all + 1}` }).press('Enter');
    await expect(names).toHaveCount(all);
    await expect(page.getByRole('button', { name: `Remove header ${all}` })).toBeFocused();
    await sendTo(page, `${target.url}/meant`);
    expect(target.received.map(({ url }) => url)).toEqual(['/meant']);
  });

  await test.step('the large editor changes nothing until it is applied, asks before it discards, and copies', async () => {
    await replayRow(page, 1);
    const dialog = page.getByRole('dialog', { name: 'Edit Request Body' });
    const editor = dialog.getByRole('textbox');
    await page.getByRole('button', { name: 'Expand the editor' }).press('Enter');
    await expect(editor).toBeFocused();
    await expect(page.getByRole('button', { name: 'Discard changes', includeHidden: true })).toHaveCount(0);
    await pressEscape(page);
    await expect(dialog).toHaveCount(0);
    await page.getByRole('button', { name: 'Expand the editor' }).press('Enter');
    await editor.fill('thrown away');
    const question = page.getByRole('alertdialog', { name: 'Discard changes?' });
    await pressEscape(page);
    await expect(question.getByRole('button', { name: 'Keep editing' })).toBeFocused();
    await pressEscape(page);
    await expect(question).toHaveCount(0);
    await expect(editor).toBeFocused();
    await expect(editor).toHaveValue('thrown away');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await question.getByRole('button', { name: 'Discard' }).click();
    await expect(dialog).toHaveCount(0);
    await expect(bodyField(page)).toHaveValue('{"a":1}');
    await expect(page.getByRole('button', { name: 'Expand the editor' })).toBeFocused();

    await page.keyboard.press('Enter');
    await editor.fill('{"a":2}');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await expect(page.getByText('The request body has been copied to your clipboard.').first()).toBeVisible();
    expect(await clipboard(page)).toBe('{"a":2}');
    // The key is for the editor, although the message is newer.
    await pressEscape(page);
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await expect(question).toHaveCount(0);
    await dialog.getByRole('button', { name: 'Apply Changes' }).click();
    await expect(bodyField(page)).toHaveValue('{"a":2}');
    await sendTo(page, target.url);
    expect(target.received.at(-1)?.body.toString()).toBe('{"a":2}');
  });

  await test.step('the large editor stays when the window becomes narrow, as a turned tablet does', async () => {
    await page.getByRole('button', { name: 'Expand the editor' }).click();
    const editor = page.getByRole('dialog', { name: 'Edit Request Body' }).getByRole('textbox');
    await editor.fill('not applied yet');
    await page.setViewportSize({ width: 900, height: 800 });
    await expect(page.getByRole('button', { name: 'Back to the list', includeHidden: true })).toBeVisible();
    await expect(editor).toHaveValue('not applied yet');
  });
});

test('fields show what is captured, wrong or missing, and nothing is sent then', async ({ page, endpoint, target }) => {
  await send(endpoint.url, { method: 'OPTIONS' });
  await sendJson(endpoint.url, { secret: true }, '/hook?a=1');
  const calls: string[] = [];
  page.on('request', (request) => calls.push(new URL(request.url()).pathname));

  await test.step('a method other than the usual ones is offered where it was captured', async () => {
    await openReplay(page, endpoint);
    await expect(methodField(page)).toHaveValue('OPTIONS');
    await expect(methodField(page).locator('option')).toHaveText(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
  });

  await test.step('nothing is sent to the placeholder, and the field has the focus', async () => {
    await replayRow(page, 1);
    await expect(urlField(page)).toHaveValue('https://example.com/hook?a=1');
    await methodField(page).focus();
    await sendButton(page).click();
    await expect(urlField(page)).toBeFocused();
    await expect(urlField(page)).toHaveAttribute('aria-invalid', 'true');
    await expect(page.getByText('example.com is a placeholder. Enter the URL of your own destination.')).toBeVisible();
    await urlField(page).fill('EXAMPLE.com:8080/x');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(urlField(page)).toHaveValue('http://EXAMPLE.com:8080/x');
    await expect(urlField(page)).toHaveAttribute('aria-invalid', 'true');
    expect(calls.filter((path) => path === '/api/replay')).toEqual([]);
  });

  await test.step('a wrong URL or header is reported at its field, which gets the focus, and nothing is sent', async () => {
    for (const [url, sentence] of [
      ['nowhere', 'Please enter a valid URL'],
      ['http://me:secret@127.0.0.1/', /holds a name or a password/],
    ] as const) {
      await urlField(page).fill(url);
      await sendButton(page).click();
      await expect(page.getByText(sentence)).toBeVisible();
      await expect(urlField(page)).toBeFocused();
      await expect(urlField(page)).toHaveAttribute('aria-invalid', 'true');
    }
    await urlField(page).fill(target.url);
    await expect(page.getByText(/holds a name or a password/)).toHaveCount(0);
    // The page scrolls to the invalid header.
    await page.getByRole('button', { name: /^Show all/ }).click();
    await page.getByLabel('Name of header 5').fill('not a name');
    await page.getByRole('button', { name: 'Show fewer' }).click();
    await urlField(page).press('Enter');
    await expect(page.getByText('The header name "not a name" has characters')).toBeVisible();
    await expect(page.getByLabel('Name of header 5')).toBeFocused();
    await expect(page.getByLabel('Name of header 5')).toBeInViewport();
    await page.getByLabel('Name of header 5').fill('X-Name');
    await expect(page.getByText('The header name "not a name" has characters')).toHaveCount(0);
    expect(target.received).toEqual([]);
  });

  await test.step('an error from the server also appears at its field', async () => {
    const message = 'Some of what was sent is not valid.';
    const rejection = problem(message, 'VALIDATION_FAILED', { url: 'Please enter a valid URL' });
    await answerWith(page, '**/api/replay', 400, rejection);
    await urlField(page).fill('http://127.0.0.1:1/');
    await sendButton(page).click();
    await expect(page.getByText('Please enter a valid URL')).toBeVisible();
    await expect(urlField(page)).toBeFocused();
    await expect(response(page).getByRole('alert')).toContainText(message);
  });

  await test.step('signed out elsewhere, sending says what it needs', async () => {
    await page.request.post('/api/logout');
    await expect(page.getByRole('dialog', { name: 'You have been logged out' })).toBeVisible();
    await pressEscape(page);
    await expect(sendButton(page)).toBeDisabled();
    // The dialog returns the focus, after which nothing moves it.
    await expect(urlField(page)).toBeFocused();
    await sendButton(page).focus();
    await expect(page.getByRole('tooltip')).toHaveText('Authentication required to replay requests');
  });
});

test('the panel by keyboard alone, with the destinations of before', async ({ page, person }) => {
  await test.step('by keyboard alone: open, enter the destination, send, leave, and return to the edited form', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    for (let at = 0; at < 2; at++) await sendJson(endpoint.url, { at });
    await openLive(page, endpoint);
    await expect(row(page, 1)).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('r');
    await expect(urlField(page)).toBeFocused();
    await page.keyboard.type(`${target.url}/by-hand`);
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(response(page)).toContainText('200 OK');
    expect(target.received.map(({ url }) => url)).toEqual(['/by-hand']);
    await expect(urlField(page)).toBeFocused();

    // Escape leaves the field, so that single-key shortcuts work again.
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: 'Replay Request' })).toBeFocused();
    await page.keyboard.press('j');
    await expect(detailsOf(page, 0)).toBeVisible();
    await expect(urlField(page)).toHaveCount(0);
    await page.keyboard.press('r');
    await expect(urlField(page)).toHaveValue(`${target.url}/by-hand`);
    await expect(response(page).getByRole('tablist')).toHaveCount(0);
    await urlField(page).fill(`${target.url}/draft`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('k');
    await expect(detailsOf(page, 1)).toBeVisible();
    await page.keyboard.press('r');
    await expect(response(page).getByText('200 OK').last()).toBeVisible();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await expect(detailsOf(page, 0)).toBeVisible();
    await page.keyboard.press('r');
    await expect(urlField(page)).toHaveValue(`${target.url}/draft`);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard changes' }).press('Enter');
    await expect(urlField(page)).toHaveValue(`${target.url}/by-hand`);
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog').getByText('Replay the request')).toBeVisible();
    await expect(page.getByRole('dialog').getByText('Send the replay')).toBeVisible();
    await pressEscape(page);
    await expect(page.getByRole('dialog')).toBeHidden();
  });

  await test.step('recent destinations of the endpoint are offered, newest first', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    await sendJson(endpoint.url, { a: 1 });
    await openReplay(page, endpoint, 0, goLive);
    for (const path of ['/one', '/two']) await sendTo(page, target.url + path);
    await expect(response(page).getByText('200 OK').last()).toBeVisible();
    await page.reload();
    await page.getByRole('button', { name: 'Replay Request' }).click();
    await page.getByRole('button', { name: 'Recent' }).click();
    await expect(page.getByRole('menuitem')).toHaveText([`${target.url}/two`, `${target.url}/one`]);
    await page.getByRole('menuitem').last().click();
    await expect(urlField(page)).toHaveValue(`${target.url}/one`);
  });

  await test.step('the base of a destination is remembered, and a scheme may be left out', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    await sendJson(endpoint.url, {}, '/first?x=1');
    await sendJson(endpoint.url, {}, '/second/%7e?y=%20&z');
    await openReplay(page, endpoint, 0, goLive);
    await sendTo(page, `${target.url.replace('http://', '')}/api/first?x=1`);
    await expect(urlField(page)).toHaveValue(`${target.url}/api/first?x=1`);
    await expect(page.getByRole('button', { name: 'Discard changes' })).toHaveCount(0);
    await replayRow(page, 1);
    await expect(urlField(page)).toHaveValue(`${target.url}/api/second/%7e?y=%20&z`);
    await sendButton(page).click();
    await expect
      .poll(() => target.received.map(({ url }) => url))
      .toEqual(['/api/first?x=1', '/api/second/%7e?y=%20&z']);
    await openReplay(page, endpoint, 0);
    await expect(urlField(page)).toHaveValue(`${target.url}/api/first?x=1`);
  });

  await test.step('changes that were not sent are forgotten at the logout', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    await openReplay(page, endpoint, 0, goLive);
    await urlField(page).fill('http://127.0.0.1:1/draft');
    await expect(page.getByRole('button', { name: 'Discard changes' })).toBeVisible();
    await logOut(page, person.username);
    await logIn(page, person.username, person.password);
    await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
    await openReplay(page, endpoint, 0, goLive);
    await expect(urlField(page)).toHaveValue('https://example.com/');
    await expect(page.getByRole('button', { name: 'Discard changes' })).toHaveCount(0);
  });
});

const WIDTHS = [390, 768, 1024, 1440];
/** Overflow of the page and the details in pixels: horizontal for both, vertical for the page. */
const OVERFLOW = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
  const root = document.documentElement;
  const details = document.querySelector('[aria-label="Request 0"]');
  return [root.scrollWidth - root.clientWidth, details.scrollWidth - details.clientWidth, root.scrollHeight - root.clientHeight];
})`;

async function expectToFit(page: Page, what: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    expect.soft(await page.evaluate(OVERFLOW), `${what} at ${width}`).toEqual([0, 0, 0]);
    await expect.soft(sendButton(page), `${what} at ${width}`).toBeInViewport({ ratio: 1 });
  }
}

const PANEL = '[aria-label="Replay Request"]';

test('the panel has room at every size', async ({ page, endpoint, target }) => {
  const long = 'w'.repeat(300);
  target.answerWith((answer) =>
    answer.writeHead(301, long, { location: `/${long}`, [`x-${long}`]: long }).end(`{"${long}":"${long}"}`),
  );
  await send(endpoint.url, { path: `/${long}`, body: long, headers: { [`x-${long}`]: long } });
  await sendJson(endpoint.url, { a: 1 });

  await test.step('long words do not overflow at any width, and Send Request stays visible', async () => {
    await openReplay(page, endpoint);
    await page.getByRole('button', { name: /^Show all/ }).click();
    await expectToFit(page, 'form');
    await sendTo(page, `${target.url}/${long}`);
    await expectToFit(page, 'answer');
  });

  await test.step('the panel leaves room for the request, and its height is remembered', async () => {
    await page.setViewportSize(DESKTOP);
    await openReplay(page, endpoint, 1, goLive);
    const details = detailsOf(page, 1);
    const panel = page.getByRole('region', { name: 'Replay Request' });
    const share = async () =>
      ((await panel.boundingBox())?.height ?? 0) / ((await details.boundingBox())?.height ?? Number.NaN);
    await expect.poll(share).toBeCloseTo(0.4, 2);
    const divider = page.getByRole('separator', { name: 'Request and replay' });
    await divider.focus();
    for (let at = 0; at < 9; at++) await page.keyboard.press('ArrowUp');
    await expect.poll(share).toBeCloseTo(0.58, 2);
    for (let at = 0; at < 3; at++) await page.keyboard.press('ArrowDown');
    await expect.poll(share).toBeCloseTo(0.52, 2);
    await openReplay(page, endpoint, 1);
    await expect.poll(share).toBeCloseTo(0.52, 2);
  });

  await test.step('over the list, a response starts at the edge of the row with the destination', async () => {
    target.answerWith((answer) => answer.end('ok'));
    const targetRow = page.locator(`${PANEL} form > div`).first();
    for (const size of [PHONE, { width: 720, height: 450 }]) {
      await page.setViewportSize(size);
      await openReplay(page, endpoint, 1);
      await sendTo(page, target.url);
      await expect
        .poll(async () => {
          const [above, below] = [await targetRow.boundingBox(), await response(page).boundingBox()];
          return Math.abs((below?.y ?? Number.NaN) - (above?.y ?? 0) - (above?.height ?? 0));
        }, `pixels between them at ${size.width}`)
        .toBeLessThan(1);
    }
  });
});

test.describe('axe, light and dark,', () => {
  test('has no serious finding in any state of the replay panel', async ({ page, endpoint, target }) => {
    await send(endpoint.url, {
      body: '{"a":1}',
      headers: { 'content-type': 'application/json', 'stripe-signature': 'v1=0' },
    });
    await openReplay(page, endpoint);
    await expectNoFindings(page, 'open', PANEL);
    await page.getByRole('button', { name: /^Show all/ }).click();
    await bodyField(page).fill('changed');
    await urlField(page).fill('nowhere');
    await sendButton(page).click();
    await expect(page.getByText('Please enter a valid URL')).toBeVisible();
    await expectNoFindings(page, 'edited and refused', PANEL);
    target.answerWith((answer) => answer.writeHead(404, { 'x-a': 'b' }).end('{"found":false}'));
    await sendTo(page, target.url);
    await expect(response(page).getByRole('tree')).toBeVisible();
    await expectNoFindings(page, 'answered', PANEL);
    await response(page).getByRole('tab', { name: 'Headers' }).click();
    await expectNoFindings(page, 'headers of the answer', PANEL);
    await page.getByRole('button', { name: 'Expand the editor' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectNoFindings(page, 'editor', '[role="dialog"]');
    await pressEscape(page);
    await target.close();
    await sendButton(page).click();
    await expect(response(page).getByRole('alert')).toBeVisible();
    await page.setViewportSize(PHONE);
    await expect(response(page).getByRole('alert')).toBeVisible();
    await expectNoFindings(page, 'failed, narrow', PANEL);
  });
});
