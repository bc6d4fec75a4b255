// Nothing moves under the pointer or the keyboard, arrivals are announced, and a lost connection has one message.
import type { Locator, Page, WebSocketRoute } from '@playwright/test';
import { expect, test } from './app.ts';
import {
  changeEndpoint,
  createDestination,
  createEndpoint,
  detailsOf,
  expectShownWhole,
  goLive,
  list,
  openLive,
  reportAttempt,
  row,
  send,
  sendMany,
  stayBusy,
} from './endpoints.ts';
import { DESKTOP, PHONE, holdCalls } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

const TARGETS = 'button, a, [role=tab], [role=switch], input';

/** What a finger can press in the main part and is lower than 44 px. What is in a row has the height of the row. */
const smallTargets = (page: Page, targets = TARGETS): Promise<string[]> =>
  page
    .locator('main')
    .locator(targets)
    .evaluateAll((elements) =>
      elements
        .filter((element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        .filter((element) => element.closest('[role=row] [role=gridcell], [role=columnheader]') === null)
        .map((element) => {
          const label = element.closest('label');
          const { height } = (label ?? element).getBoundingClientRect();
          return `${element.getAttribute('aria-label') ?? element.textContent}: ${height}`;
        })
        .filter((line) => Number(line.split(': ').at(-1)) < 44),
    );

const pill = (page: Page, count: number) => page.getByRole('button', { name: `${count} new`, exact: true });

test('new requests move nothing and are announced, and at 200% zoom enough rows are visible', async ({
  page,
  person: _,
}) => {
  await test.step('new requests move nothing under the pointer or the keyboard, and are announced', async () => {
    const endpoint = await createEndpoint(page);
    for (const path of ['/a', '/b']) await send(endpoint.url, { path });
    await openLive(page, endpoint);

    await test.step('while the pointer is on the list, new requests wait', async () => {
      await row(page, 0).hover();
      const rest = await stayBusy(page, 'pointermove');
      const before = await row(page, 0).boundingBox();
      await send(endpoint.url, { path: '/new' });
      await expect(pill(page, 1)).toBeVisible();
      expect(await row(page, 0).boundingBox()).toEqual(before);
      await expect(row(page, 2)).toHaveCount(0);

      // The pill lets them in, and what arrives after that waits again.
      await pill(page, 1).click();
      await expect(row(page, 2)).toBeVisible();
      await send(endpoint.url);
      await expect(pill(page, 1)).toBeVisible();
      await rest();
      await page.mouse.move(5, 5);
      await expect(row(page, 3)).toBeVisible();
      await expect(pill(page, 1)).toHaveCount(0);
    });

    await test.step('while the keyboard is on the list, new requests wait, and the ring is on a row', async () => {
      const grid = list(page);
      await page.getByRole('button', { name: 'Pause' }).focus();
      await page.keyboard.press('Tab');
      await expect(grid).toBeFocused();
      await expect(grid).toHaveCSS('outline-style', 'none');
      await expect(row(page, 1)).toHaveCSS('outline-style', 'solid');
      await page.keyboard.press('ArrowDown');
      await expect(row(page, 0)).toHaveCSS('outline-style', 'solid');
      const rest = await stayBusy(page, 'keydown');
      await send(endpoint.url);
      await expect(pill(page, 1)).toBeVisible();
      await expect(row(page, 4)).toHaveCount(0);
      await rest();
      await page.getByRole('button', { name: 'Pause' }).focus();
      await expect(row(page, 4)).toBeVisible();
    });

    await test.step('the suggestions of the filter are above the number of new requests', async () => {
      await page.getByRole('button', { name: 'Pause' }).click();
      await send(endpoint.url);
      await expect(pill(page, 1)).toBeVisible();
      // In a narrow list, the suggestions reach the middle.
      await page.setViewportSize({ width: 1000, height: 900 });
      await page.keyboard.press('/');
      // Every request has this letter, so the list keeps its number of new ones.
      await page.keyboard.type('p');
      await expect(page).toHaveURL(/find=p/);
      await expect(page.getByRole('listbox')).toBeVisible();
      const isAbove = await pill(page, 1).evaluate((button) => {
        const { left, top, width, height } = button.getBoundingClientRect();
        return button.ownerDocument.elementFromPoint(left + width / 2, top + height / 2) === button;
      });
      expect(isAbove).toBe(false);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.setViewportSize(DESKTOP);
      await page.getByRole('button', { name: 'Resume' }).click();
      await expect(pill(page, 1)).toHaveCount(0);
    });

    await test.step('arrivals are announced together, not one by one', async () => {
      await page.evaluate(`
        globalThis.told = [];
        new MutationObserver(() => {
          for (const status of document.querySelectorAll('[role=status]'))
            if (/new request/.test(status.textContent) && globalThis.told.at(-1) !== status.textContent)
              globalThis.told.push(status.textContent);
        }).observe(document.body, { subtree: true, childList: true, characterData: true });`);
      for (let at = 0; at < 5; at++) await send(endpoint.url);
      const told = (): Promise<string[]> => page.evaluate('globalThis.told');
      await expect.poll(async () => (await told()).join()).not.toBe('');
      expect((await told()).length).toBeLessThanOrEqual(2);
    });

    await test.step('the title counts what arrives while the tab is hidden', async () => {
      await expect(page).toHaveTitle('Journey · Creel');
      // What arrived before is counted before.
      await expect(page.getByText('9 in last session')).toBeVisible();
      const setHidden = (hidden: boolean) =>
        page.evaluate(`
          Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
          document.dispatchEvent(new Event('visibilitychange'));`);
      await setHidden(true);
      for (let at = 0; at < 3; at++) await send(endpoint.url);
      await expect(page).toHaveTitle('(3) Journey · Creel');
      await setHidden(false);
      await expect(page).toHaveTitle('Journey · Creel');
    });
  });

  await test.step('at 200% zoom, eight rows are visible', async () => {
    const endpoint = await createEndpoint(page);
    for (let at = 0; at < 12; at++) await send(endpoint.url, { path: `/${at}` });
    // 1440x900 at 200%.
    await page.setViewportSize({ width: 720, height: 450 });
    await goLive(page, endpoint);
    await page
      .getByRole('grid', { name: 'Captured requests' })
      .evaluate((grid) => grid.scrollIntoView({ block: 'end' }));
    const grid = await list(page).boundingBox();
    const bottom = Math.min(450, (grid?.y ?? 0) + (grid?.height ?? 0));
    const boxes = await Promise.all(Array.from({ length: 12 }, (__, at) => row(page, at).boundingBox()));
    const visible = boxes.filter((box) => box !== null && box.y >= (grid?.y ?? 0) + 28 && box.y + box.height <= bottom);
    expect(visible.length).toBeGreaterThanOrEqual(8);
  });
});

test('a deleted request moves no row above it', async ({ page, endpoint }) => {
  await sendMany(endpoint.url, 60);
  await openLive(page, endpoint);
  page.on('dialog', (dialog) => void dialog.accept());
  await list(page).evaluate((grid) => grid.scrollTo({ top: 600 }));
  // The row at the top, so that it would move if the next one were centered.
  await row(page, 41).click();
  await expect(detailsOf(page, 41)).toBeVisible();
  const before = await row(page, 42).boundingBox();
  await page.keyboard.press('Delete');
  await expect(row(page, 41)).toHaveCount(0);
  await expect(row(page, 40)).toHaveAttribute('aria-selected', 'true');
  expect(await row(page, 42).boundingBox()).toEqual(before);
});

test('new requests do not wait behind an empty list', async ({ page, endpoint }) => {
  for (const path of ['/a', '/b']) await send(endpoint.url, { path });
  await openLive(page, endpoint);
  page.on('dialog', (dialog) => void dialog.accept());
  await row(page, 1).click();
  await send(endpoint.url, { path: '/new' });
  await expect(pill(page, 1)).toBeVisible();
  await page.keyboard.press('Delete');
  await expect(row(page, 1)).toHaveCount(0);
  await page.keyboard.press('Delete');
  await expect(row(page, 2)).toBeVisible();
  await expect(detailsOf(page, 2)).toBeVisible();
});

test('the previous request is shown below the column titles, also if it is the first', async ({ page, endpoint }) => {
  await sendMany(endpoint.url, 60, 1);
  await openLive(page, endpoint);
  await list(page).evaluate((grid) => grid.scrollTo({ top: 90 }));
  await row(page, 55).click();
  const titles = await page.getByRole('columnheader', { name: 'Path' }).boundingBox();
  const top = (titles?.y ?? 0) + (titles?.height ?? 0);
  for (let index = 56; index < 60; index++) {
    await page.keyboard.press('k');
    await expect(row(page, index)).toHaveAttribute('aria-selected', 'true');
    await expect.poll(async () => (await row(page, index).boundingBox())?.y).toBeGreaterThanOrEqual(top);
  }
});

test('a lost connection has one message, which takes the errors with it', async ({ page, endpoint }) => {
  let isUp = true;
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/ws\?/, (socket) => {
    if (isUp) {
      socket.connectToServer();
      sockets.push(socket);
    } else void socket.close({ code: 1013 });
  });
  await page.route('**/save-request', (route) => (isUp ? route.continue() : route.abort()));
  await send(endpoint.url);
  await openLive(page, endpoint);
  const lost = page.getByText('Not connected to real-time updates. Refresh the page to reconnect.');
  const top = async () => (await row(page, 0).boundingBox())?.y;
  const before = await top();
  isUp = false;
  await sockets[0]?.close({ code: 1001 });
  await expect(lost).toBeVisible();
  expect(await top()).toBe(before);
  await page.keyboard.press('s');
  const failure = page.getByText('Failed to save the webhook request.').first();
  await expect(failure).toBeVisible();
  // Focus would keep the message open for good.
  await page.keyboard.press('F8');
  isUp = true;
  await expect(lost).toHaveCount(0);
  await expect(failure).toBeHidden();
});

test.describe('on a phone', () => {
  test.use({ viewport: PHONE, hasTouch: true, isMobile: true });

  test('controls have 44 px, and a long press or a swipe offers the actions of a row', async ({ page, endpoint }) => {
    // Many steps, which share a page.
    for (const path of ['/a', '/b']) await send(endpoint.url, { path });
    await openLive(page, endpoint);
    const touch = await page.context().newCDPSession(page);

    await test.step('beside its badges, a path is shown whole', async () => {
      const index = await send(endpoint.url, { path: '/webhooks/orders/1042' });
      await reportAttempt(page, endpoint, index, 503);
      await expect(row(page, index)).toContainText('503');
      await expectShownWhole(row(page, index), '/webhooks/orders/1042');
    });

    await test.step('what can be pressed has 44 px, and a long press opens the actions of a row', async () => {
      await row(page, 0).scrollIntoViewIfNeeded();
      expect(await smallTargets(page, `${TARGETS}, [role=row][data-index]`)).toEqual([]);

      const box = await row(page, 0).boundingBox();
      const at = { x: (box?.x ?? 0) + 150, y: (box?.y ?? 0) + 20 };
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] });
      const menu = page.getByRole('menu', { name: 'Request' });
      await expect(menu).toBeVisible();
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await menu.getByRole('menuitem', { name: 'Save' }).tap();
      await expect(row(page, 0)).not.toContainText('Unsaved');
      await expect(detailsOf(page, 0)).toHaveCount(0);
    });

    await test.step('a swipe uncovers the actions of a row, and a tap covers them', async () => {
      await row(page, 1).scrollIntoViewIfNeeded();
      const swipe = async (from: number, to: number): Promise<void> => {
        const y = ((await row(page, 1).boundingBox())?.y ?? 0) + 20;
        const move = (type: 'touchStart' | 'touchMove', x: number) =>
          touch.send('Input.dispatchTouchEvent', { type, touchPoints: [{ x, y }] });
        // The finger rests before it leaves. After a fling, Chromium ignores the next tap.
        const timestamp = Date.now() / 1000 + 1;
        // All at once: a page that is slow to answer the first press would see a long one and open the menu.
        await Promise.all([
          move('touchStart', from),
          move('touchMove', from + (to - from) / 2),
          move('touchMove', to),
          touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [], timestamp }),
        ]);
      };
      const action = (name: string) => row(page, 1).getByRole('button', { name, exact: true });

      await swipe(300, 280);
      await expect(action('Delete')).toHaveCount(0);
      await swipe(300, 150);
      await expect(action('Delete')).toBeInViewport({ ratio: 1 });
      await row(page, 1).tap({ position: { x: 60, y: 20 } });
      await expect(action('Delete')).toHaveCount(0);
      await expect(detailsOf(page, 1)).toHaveCount(0);

      await swipe(300, 150);
      await action('Save').tap();
      await expect(row(page, 1)).not.toContainText('Unsaved');
      await expect(action('Delete')).toHaveCount(0);
      await swipe(300, 150);
      await expect(action('Save')).toHaveCount(0);
      page.on('dialog', (dialog) => void dialog.accept());
      await action('Delete').tap();
      await expect(row(page, 1)).toHaveCount(0);
    });

    await test.step('the rows stay in place when those above them are loaded', async () => {
      await sendMany(endpoint.url, 500);
      // The list gets the rows up to 256, and the newest ones. What is between them waits.
      const { release } = await holdCalls(page, /\/(temp-)?requests\?limit=200&before=(?!257)/);
      // The request is found in these rows, before the page has read it alone.
      const alone = await holdCalls(page, /requests\?limit=1&before=158/);
      const rowsAround = page.waitForResponse(/requests\?limit=200&before=257/);
      await openLive(page, endpoint, '?request=157');
      await (await rowsAround).finished();
      await expect(row(page, 157)).toBeAttached();
      await page.getByRole('button', { name: 'Back to the list' }).tap();
      await expect(row(page, 157)).toBeInViewport();
      alone.release();
      await list(page).evaluate((element) => element.scrollBy(0, -95 * 48));
      const top = async () => (await row(page, 250).boundingBox())?.y;
      await expect(row(page, 250)).toBeInViewport();
      await expect(page.getByText('Loading more requests')).toBeAttached();
      const before = await top();
      release();
      await expect(row(page, 257)).toBeAttached();
      expect(await top()).toBe(before);
    });

    await test.step('on a tablet, too, what can be pressed has 44 px, and the page does not scroll', async () => {
      await page.setViewportSize({ width: 820, height: 1180 });
      await goLive(page, endpoint);
      await expect(row(page, 1)).toHaveCount(0);
      expect(await smallTargets(page)).toEqual([]);
      // On its side, it shows a request beside the list.
      await page.setViewportSize({ width: 1180, height: 820 });
      await expect(page.getByRole('button', { name: 'Replay Request' })).toBeVisible();
      const hidden = (locator: Locator) => locator.evaluate((element) => element.scrollHeight - element.clientHeight);
      expect(await hidden(page.locator('#main'))).toBe(0);
      expect(await hidden(page.getByRole('tablist', { name: 'Parts of the request' }))).toBe(0);
      await page.setViewportSize(PHONE);
    });

    await test.step('the path of an open request is shown whole, above its actions', async () => {
      const index = await send(endpoint.url, { path: '/webhooks/orders/1042' });
      await openLive(page, endpoint, `?request=${index}`);
      await expectShownWhole(detailsOf(page, index).getByRole('heading', { level: 2 }), '/webhooks/orders/1042');
    });

    await test.step('what copies a header or the query is visible, and covers no other row', async () => {
      const index = await send(endpoint.url, { path: '/q?a=1' });
      for (const [tab, name] of [
        ['headers', 'Copy host'],
        ['query', 'Copy the query as sent'],
      ] as const) {
        await openLive(page, endpoint, `?request=${index}&tab=${tab}`);
        const copy = page.getByRole('button', { name, exact: true });
        await expect(copy).toHaveCSS('opacity', '1');
        const room = await copy.evaluate((button) => {
          const around = button.closest('tr, .group')?.getBoundingClientRect();
          return (around?.bottom ?? 0) - button.getBoundingClientRect().bottom;
        });
        expect(room, name).toBeGreaterThanOrEqual(0);
      }
    });

    await test.step('a switch without a visible label is pressed by a tap 12 px above it', async () => {
      const data = { url: 'http://127.0.0.1:9/orders', enabled: false };
      await createDestination(page, endpoint, data);
      await openLive(page, endpoint);
      await page.getByRole('button', { name: 'Forward' }).tap();
      const destination = page.getByRole('switch', { name: `Forward to ${data.url}` });
      await expect(destination).not.toBeChecked();
      await page.setViewportSize({ width: 360, height: 740 });
      const top = async (name: string) => (await page.getByRole('button', { name }).boundingBox())?.y;
      expect(await top('Delete destination'), 'in one line').toBe(await top('Edit destination'));
      const box = await destination.boundingBox();
      await page.touchscreen.tap((box?.x ?? 0) + 14, (box?.y ?? 0) - 12);
      await expect(destination).toBeChecked();
    });

    await test.step('a long name on the dashboard ends with an ellipsis', async () => {
      await changeEndpoint(page, endpoint, { name: 'A_name_of_one_word_'.repeat(4) });
      await page.goto('/');
      const card = page.getByRole('main').getByRole('link', { name: 'A_name_of' });
      const heading = await card.getByRole('heading').boundingBox();
      expect(heading?.width).toBeLessThanOrEqual((await card.boundingBox())?.width ?? 0);
    });

    await test.step('a long name of two directions is cut at its end and not at the beginning of its second part', async () => {
      const [latin, hebrew] = ['orders ', 'הזמנות מהחנות '.repeat(6)];
      await changeEndpoint(page, endpoint, { name: latin + hebrew });
      await page.goto('/');
      const name = page.getByRole('heading', { name: latin }).getByText(latin);
      const cut = await name.evaluate((element, at) => {
        const letter = element.ownerDocument.createRange();
        letter.setStart(element.firstChild ?? element, at);
        letter.setEnd(element.firstChild ?? element, at + 1);
        return letter.getBoundingClientRect().right - element.getBoundingClientRect().right;
      }, latin.length);
      expect(cut, 'beside the ellipsis and not under it').toBeLessThan(-8);
      await expect(page.getByRole('link', { name: latin + hebrew.trim(), exact: true }).first()).toBeAttached();
    });
  });
});
