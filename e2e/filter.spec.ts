// The query field: the list's filter over everything that is stored, the search page, and links to old requests.
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { expectNoFindings } from './axe.ts';
import { expect, pressEscape, test } from './app.ts';
import {
  changeEndpoint,
  createEndpoint,
  detailsOf,
  filterField,
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
import { DESKTOP, heading, holdCalls, PHONE, problem } from './pages.ts';

// Two endpoints for the search page, and one for each step.
test.use({ tier: 'PREMIUM' });

/** Of these, more than 1,000 that the list has not loaded begin with a 1. */
const STORED = Number(process.env['FILTER_REQUESTS'] ?? 2_540);
const ALL = STORED.toLocaleString('en-US');

/** Records whether a text is ever shown, from now on. */
async function watchFor(page: Page, text: string): Promise<() => Promise<boolean>> {
  await page.evaluate(`{
    globalThis.wasShown = false;
    new MutationObserver(() => {
      if (document.body.innerText.includes(${JSON.stringify(text)})) globalThis.wasShown = true;
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  }`);
  return () => page.evaluate('globalThis.wasShown');
}

test('the filter finds one of thousands of stored requests', async ({ page, endpoint }) => {
  await changeEndpoint(page, endpoint, { autosave: true });
  await sendMany(endpoint.url, STORED);
  await openLive(page, endpoint);
  const wasNothingFound = await watchFor(page, 'No request matches');
  const started = performance.now();
  await filterField(page).fill('needle-56-');
  const found = page.getByRole('row', { name: /\/order\/56\b/ });
  await expect(found).toBeVisible();
  test.info().annotations.push({ type: 'first match', description: `${Math.round(performance.now() - started)} ms` });
  await expect(page.getByText(`1 match in ${ALL} requests`).first()).toBeVisible();
  test.info().annotations.push({ type: 'complete', description: `${Math.round(performance.now() - started)} ms` });
  expect(await wasNothingFound()).toBe(false);

  await filterField(page).fill('no such thing');
  await expect(page.getByText(`Searched ${ALL} stored requests`)).toBeVisible();
  // 1, 10 to 19, 100 to 199, 1,000 to 1,999 and so on. The filter pauses after 1,000 matches, and scrolling continues it.
  await filterField(page).fill('path:/order/1*');
  await expect(
    page.getByText(new RegExp(String.raw`^1,\d{3}\+ matches in [\d,]+ of ${ALL} requests`)).first(),
  ).toBeVisible();
  await list(page).evaluate((grid) => grid.scrollTo(0, grid.scrollHeight));
  const matches = Array.from({ length: STORED }, (_, at) => String(at)).filter((at) => at.startsWith('1')).length;
  const all = `${matches.toLocaleString('en-US')} matches in ${ALL} requests`;
  await expect(page.getByText(all).first()).toBeVisible();
});

test('the filter searches, follows live captures, keeps its place, and explains itself', async ({
  page,
  person: _,
}) => {
  await test.step('a search shows its progress and its failure', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 3; at++) await sendJson(endpoint.url, { at }, '/first');
    // The server has to search from here on.
    await send(endpoint.url, { body: 'x'.repeat(20_000) });
    await sendJson(endpoint.url, { a: 1 });
    await send(endpoint.url, { body: `${'x'.repeat(20_000)} needle` });
    await openLive(page, endpoint);

    await test.step('while it searches, the filter shows matches and progress, and does not say that nothing matches', async () => {
      const { release } = await holdCalls(page, '**/api/search?*');
      await filterField(page).fill('nothing-like-it');
      await expect(page.getByText('0 matches in 0 of 6 requests').first()).toBeVisible();
      await expect(page.getByText('No request matches')).toHaveCount(0);
      release();
      await expect(page.getByText('No request matches')).toBeVisible();
      await expect(page.getByText('Searched 6 stored requests')).toBeVisible();
      await page.getByRole('button', { name: 'Clear the filter' }).click();
      await expect(row(page, 0)).toBeVisible();
      await page.unroute('**/api/search?*');
    });

    await test.step('a search that fails says so and continues on demand', async () => {
      let failures = 0;
      await page.route('**/api/search?*', (route) =>
        failures++ === 0 ? route.fulfill({ status: 503, json: problem('Busy.', 'UNAVAILABLE') }) : route.continue(),
      );
      await filterField(page).fill('needle');
      await expect(page.getByText('Busy.')).toBeVisible();
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await expect(row(page, 5)).toBeVisible();
      await page.unroute('**/api/search?*');
    });
  });

  await test.step('live captures that match appear, also with a long or coded body; others do not', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { needle: 1 });
    await goLive(page, endpoint);
    await filterField(page).fill('needle');
    await expect(page.getByText('1 match in 1 request').first()).toBeVisible();
    await sendJson(endpoint.url, { needle: 2 });
    await expect(row(page, 1)).toBeVisible();
    await sendJson(endpoint.url, { other: 3 });
    await send(endpoint.url, { body: `${'x'.repeat(20_000)} needle` });
    await expect(row(page, 3)).toBeVisible();
    await send(endpoint.url, { body: 'y'.repeat(20_000) });
    await send(endpoint.url, { body: gzipSync('a needle in it'), headers: { 'content-encoding': 'gzip' } });
    await expect(row(page, 5)).toBeVisible();
    await expect(page.getByText('4 matches in 6 requests').first()).toBeVisible();
    for (const other of [2, 4]) await expect(row(page, other)).toHaveCount(0);
    await row(page, 3).click();
    await expect(detailsOf(page, 3)).toBeVisible();
    await page.keyboard.press('j');
    await expect(row(page, 1)).toHaveAttribute('aria-selected', 'true');
  });

  await test.step('the filter works together with tabs, saving and a selection', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url, { method: 'GET', path: '/both' });
    await send(endpoint.url, { method: 'POST', path: '/both' });
    await send(endpoint.url, { method: 'GET', path: '/other' });

    await test.step('tabs and filter narrow the list together', async () => {
      await goLive(page, endpoint, '?find=both&filter=get');
      await expect(row(page, 0)).toBeVisible();
      await expect(rows(page)).toHaveCount(1);
      await page.getByRole('tab', { name: 'PUT' }).click();
      await expect(page.getByText('No PUT request matches')).toBeVisible();
    });

    await test.step('saving a request moves it out of the list of unsaved ones', async () => {
      await goLive(page, endpoint, '?find=is%3Aunsaved&request=1');
      await expect(row(page, 1)).toBeVisible();
      await detailsOf(page, 1).getByRole('button', { name: 'Save', exact: true }).click();
      await expect(row(page, 1)).toHaveCount(0);
      await expect(row(page, 0)).toBeVisible();
      await expect(detailsOf(page, 1).getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
    });

    await test.step('the slash key focuses the filter while requests are selected', async () => {
      await goLive(page, endpoint);
      await expect(detailsOf(page, 2)).toBeVisible();
      await page.keyboard.press('x');
      await expect(filterField(page)).toHaveCount(0);
      await page.keyboard.press('/');
      await expect(filterField(page)).toBeFocused();
      await expect(page).toHaveURL(/endpoints/);
    });
  });

  await test.step('fields and known values are suggested, and chosen with the keyboard', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { type: 'invoice.paid' }, '/a');
    await send(endpoint.url, { method: 'PUT', path: '/b', headers: { 'x-shop': 'acme' } });
    await goLive(page, endpoint);
    await page.keyboard.press('/');
    await expect(filterField(page)).toBeFocused();
    await expect(page.getByRole('listbox')).toHaveCount(0);
    await page.keyboard.press('ArrowDown');
    await expect(page.getByRole('option')).toHaveCount(14);
    await page.keyboard.type('head');
    await page.keyboard.press('ArrowDown');
    await expect(page.getByRole('option', { name: 'header.' })).toHaveAttribute('aria-selected', 'true');
    await expectNoFindings(page, 'suggestions');
    await page.keyboard.press('Enter');
    await page.keyboard.type('x-s');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await expect(filterField(page)).toHaveValue('header.x-shop:');
    await page.keyboard.type('ac');
    await expect(row(page, 0)).toHaveCount(0);
    await expect(row(page, 1)).toBeVisible();
    // The URL follows the field with a delay.
    await expect(page).toHaveURL(/find=header\.x-shop(:|%3A)ac/);

    await page.reload();
    await expect(filterField(page)).toHaveValue('header.x-shop:ac');
    await expect(row(page, 1)).toBeVisible();
    await expect(row(page, 0)).toHaveCount(0);

    await filterField(page).fill('');
    await filterField(page).pressSequentially('put');
    await page.getByRole('option', { name: 'method:PUT' }).click();
    await expect(filterField(page)).toHaveValue('method:PUT ');
    await expect(filterField(page)).toBeFocused();
    await expect(row(page, 0)).toHaveCount(0);
    // While the search runs, there is no list to return to.
    await expect(row(page, 1)).toBeVisible();
    await pressEscape(page);
    await expect(filterField(page)).toHaveValue('');
    await expect(list(page)).toBeFocused();
  });

  await test.step('a mistake is shown at its place, an unknown field is searched as text', async () => {
    const endpoint = await createEndpoint(page);
    const searches: string[] = [];
    page.on('request', (call) => (call.url().includes('/api/search') ? searches.push(call.url()) : undefined));
    await sendJson(endpoint.url, { a: 1 }, '/methd:POST');
    await goLive(page, endpoint);
    const before = await row(page, 0).boundingBox();
    await filterField(page).fill('a size:many b');
    await expect(page.getByText('Expected a size such as')).toBeVisible();
    await expect(page.locator('[data-mistake]')).toHaveText('size:many');
    await expect(filterField(page)).toHaveAccessibleDescription(/The mistake is at character 3/);
    await expect(filterField(page)).toHaveAttribute('aria-invalid', 'true');
    await expect(row(page, 0)).toBeVisible();
    await expect.poll(() => row(page, 0).boundingBox(), 'the mistake moves no row').toEqual(before);
    expect(searches).toEqual([]);
    await expectNoFindings(page, 'a mistake in the filter');

    await filterField(page).fill('methd:POST');
    await expect(
      page.getByText('methd: is not a field, so it is searched as text. Did you mean method:?'),
    ).toBeVisible();
    await expect(row(page, 0)).toBeVisible();
    await expect.poll(() => row(page, 0).boundingBox(), 'the note moves no row').toEqual(before);
    await filterField(page).fill('methd:POST (');
    await page.setViewportSize(PHONE);
    await expect(filterField(page), 'another layout keeps what is typed').toBeFocused();
    await expect(filterField(page)).toHaveValue('methd:POST (');
    await filterField(page).fill('methd:POST');
    await filterField(page).blur();
    const note = page.getByText('Did you mean method:?');
    const cut = () => note.evaluate((line) => line.scrollWidth - line.clientWidth);
    await expect.poll(cut, 'cut pixels on a phone').toBe(0);
    await page.setViewportSize(DESKTOP);

    await expect(page.getByText('1 match in 1 request').last()).toBeVisible();
    await filterField(page).fill('methd:POST size:many');
    await expect(page.getByText('Not applied. Expected a size such as')).toBeVisible();
    await expect(page.getByText('Still shown: the matches of methd:POST')).toBeVisible();
    await expect(page.getByText('1 match in 1 request').last()).toBeVisible();
    await expectNoFindings(page, 'a mistake in a filter that had matches');
    await goTo(page, `/endpoints/${endpoint.uid}?find=size%3Amany`);
    await expect(page.getByText('This filter has a mistake')).toBeVisible();
    await expect(page.locator('[data-mistake]')).toHaveText('size:many');
  });
});

/**
 * Runs in the page, because a call for each key takes ten times as long: presses a key for each row until it is selected.
 * Where the list is still loading the next row, a key does nothing.
 */
const pressUntilSelected = (key: string, from: number, to: number) => `(async () => {
  const isSelected = (index) => document.querySelector('[role="row"][data-index="' + index + '"][aria-selected="true"]') !== null;
  const press = () =>
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }));
  for (let index = ${from}; index <= ${to}; index++) {
    while (!isSelected(index)) {
      if (isSelected(index - 1)) press();
      await new Promise(requestAnimationFrame);
    }
  }
})()`;

test('a link to an old request loads the list around it, and j and k move from it', async ({ page, endpoint }) => {
  await sendMany(endpoint.url, 700);
  await openLive(page, endpoint, '?request=157');
  await expect(row(page, 157)).toBeInViewport();
  await expect(row(page, 157)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('j');
  await expect(row(page, 156)).toHaveAttribute('aria-selected', 'true');
  // Across the end of the loaded part: no request is skipped.
  await page.evaluate(pressUntilSelected('k', 157, 289));
  await expect(row(page, 289)).toBeInViewport();
  // The list keeps these rows for the first return, and loads them again for the second one.
  for (let returns = 0; returns < 3; returns++) {
    await goTo(page, '/settings');
    await expect(heading(page, 'Settings')).toBeVisible();
    await goLive(page, endpoint, '?request=157');
    await expect(row(page, 157)).toBeInViewport();
    await expect(row(page, 157)).toHaveAttribute('aria-selected', 'true');
  }
});

test('the search page is restricted by chips that edit the query', async ({ page, endpoint }) => {
  const other = await createEndpoint(page, 'Other');
  await send(endpoint.url, { method: 'GET', path: '/thing' });
  await send(endpoint.url, { method: 'PUT', path: '/thing' });
  await send(other.url, { method: 'PUT', path: '/thing' });
  await page.goto('/search?q=thing');
  await expect(page.getByText('3 matches in 3 requests').first()).toBeVisible();
  await page.getByRole('combobox', { name: 'Method' }).selectOption('PUT');
  await expect(page.getByRole('combobox', { name: 'Search requests' })).toHaveValue('thing method:PUT');
  await expect(page.getByText('2 matches in 3 requests').first()).toBeVisible();
  const results = page.getByRole('main').getByRole('link', { name: '/thing' });
  await page.setViewportSize(PHONE);
  for (const name of ['Other', 'Journey']) await expect(results.getByText(name)).toBeInViewport({ ratio: 1 });
  await page.setViewportSize(DESKTOP);
  await page.getByRole('combobox', { name: 'Endpoint' }).selectOption('Other');
  await expect(page.getByText('1 match in 1 request').first()).toBeVisible();
  await page.getByRole('combobox', { name: 'Time' }).selectOption('Last hour');
  await expect(page).toHaveURL(/after%3A-1h/);
  await page.reload();
  await expect(page.getByText('1 match in 1 request').first()).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'Time' })).toHaveValue('-1h');
  await expectNoFindings(page, 'the search page');
  await page.getByRole('combobox', { name: 'Search requests' }).fill('thing method:GET');
  await expect(page.getByText('Nothing found')).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'Method' })).toHaveValue('GET');
});

test('in a narrow list, a result of the search has its event type and its size', async ({ page, endpoint }) => {
  await send(endpoint.url, { body: '{"a":1}', headers: { 'x-github-event': 'push' } });
  await page.setViewportSize({ width: 768, height: 800 });
  await page.goto('/search?q=method:POST');
  const result = page.getByRole('main').getByRole('link', { name: /POST/ });
  await expect(result.getByText('push', { exact: true })).toBeVisible();
  await expect(result.getByText('7 B', { exact: true })).toBeVisible();
});
