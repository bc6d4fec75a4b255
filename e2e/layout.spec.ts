// The shared layout: keys, menus, themes, toasts, small screens.
import type { Page } from '@playwright/test';
import { expect, notifications, pressEscape, test } from './app.ts';
import { createEndpoint, expectShownWhole, goTo, reportAttempt, row, send } from './endpoints.ts';
import { heading, PHONE } from './pages.ts';

test('links, menus and keys lead everywhere', async ({ page, person }) => {
  await test.step('any other path is the 404 page', async () => {
    for (const path of ['/%E0%A4%A', '/no/such/page', '/no/such/page.html']) {
      await page.goto(path);
      await expect(heading(page, 'Page Not Found')).toBeVisible();
      await expect(page.getByText('404')).toBeVisible();
    }
    await page.getByRole('link', { name: 'Back to Dashboard' }).click();
    await expect(heading(page, 'Dashboard')).toBeVisible();
  });

  await test.step('the sidebar and the user menu lead everywhere', async () => {
    const links = page.getByRole('navigation', { name: 'Creel' });
    for (const name of ['Settings', 'Subscription', 'Search']) {
      await links.getByRole('link', { name }).click();
      await expect(heading(page, name)).toBeVisible();
      await expect(page).toHaveTitle(`${name} · Creel`);
    }
    const account = page.getByRole('button', { name: `Account of ${person.username}` });
    await expect(account).toContainText('Free Plan');
    for (const [item, title] of [
      ['Profile', 'Profile'],
      ['Manage Subscription', 'Subscription'],
      ['Settings', 'Settings'],
    ] as const) {
      await account.click();
      await page.getByRole('menuitem', { name: item }).click();
      await expect(heading(page, title)).toBeVisible();
    }
    await page.getByRole('link', { name: 'Back to Dashboard' }).click();
    await expect(heading(page, 'Dashboard')).toBeVisible();
  });

  await test.step('keys open the palette, the help and the search, and are off in fields', async () => {
    await expect(heading(page, 'Dashboard')).toBeVisible();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await expect(help.getByText('Create endpoint')).toBeVisible();
    // Single-key shortcuts are off while a dialog is open.
    await page.keyboard.press('n');
    await expect(page.getByRole('dialog', { name: 'Create Endpoint' })).toHaveCount(0);
    await expect(help).toBeVisible();
    await pressEscape(page);
    await expect(help).toBeHidden();

    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('subscr');
    await expect(page.getByRole('option', { selected: true })).toContainText('Subscription');
    await page.keyboard.press('Enter');
    await expect(heading(page, 'Subscription')).toBeVisible();

    await page.keyboard.press('/');
    await expect(page.getByRole('combobox', { name: 'Search requests' })).toBeFocused();
    await page.keyboard.type('n?');
    await expect(page.getByRole('combobox', { name: 'Search requests' })).toHaveValue('n?');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    // The palette opens even from a field, and searches for text that matches no command.
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('refs/heads');
    // The Enter that accepts the text of an input method chooses nothing.
    const query = page.getByRole('combobox', { name: 'Command or endpoint' });
    await query.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await expect(query).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/q=refs%2Fheads/);
    await expect(page.getByRole('combobox', { name: 'Search requests' })).toHaveValue('refs/heads');
  });

  await test.step('a search from the palette replaces one that is being typed', async () => {
    await goTo(page, '/');
    await expect(heading(page, 'Dashboard')).toBeVisible();
    await goTo(page, '/search');
    await expect(page.getByRole('combobox', { name: 'Search requests' })).toBeFocused();
    await page.clock.install();
    await page.keyboard.type('typed');
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('chosen');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/q=chosen/);
    // Longer than the delay after which the field starts a search.
    await page.clock.runFor(1_000);
    await expect(page.getByRole('combobox', { name: 'Search requests' })).toHaveValue('chosen');
    await expect(page).toHaveURL(/q=chosen/);
    await page.getByRole('combobox', { name: 'Search requests' }).fill('typed after it');
    await page.clock.runFor(1_000);
    await expect(page).toHaveURL(/q=typed(\+|%20)after/);
  });
});

test('the sidebar of a narrow window, and a lost connection', async ({ page, context, person: _ }) => {
  await test.step('below 768 px the sidebar is a menu that slides in and closes after a choice', async () => {
    await page.setViewportSize({ width: 767, height: 800 });
    await page.goto('/');
    await expect(page.getByRole('complementary')).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Open menu' })).toBeVisible();
    const middles = await page
      .getByRole('banner')
      .locator('svg')
      .evaluateAll((icons) => icons.map((icon) => icon.getBoundingClientRect()).map(({ y, height }) => y + height / 2));
    expect(new Set(middles).size, `icons of the bar at ${middles.join(' and ')} px`).toBe(1);
    await page.getByRole('button', { name: 'Open menu' }).click();
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await menu.getByRole('link', { name: 'Settings' }).click();
    await expect(heading(page, 'Settings')).toBeVisible();
    await expect(menu).toBeHidden();
    await page.getByRole('button', { name: 'Open menu' }).click();
    await menu.getByRole('button', { name: 'Create Endpoint' }).click();
    await expect(menu).toBeHidden();
    await expect(
      page.getByRole('dialog', { name: 'Create Endpoint' }).getByLabel('Endpoint Name (Optional)'),
    ).toBeFocused();
    await pressEscape(page);
    await page.setViewportSize({ width: 768, height: 800 });
    await expect(page.getByRole('complementary')).toBeVisible();
  });

  await test.step('a page starts at its top, and the previous one returns to its place', async () => {
    await page.setViewportSize({ width: PHONE.width, height: 500 });
    const main = page.getByRole('main');
    const scrolled = () => main.evaluate(({ scrollTop }) => scrollTop);
    const follow = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Open menu' }).click();
      await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name, exact: true }).click();
      await expect(heading(page, name)).toBeVisible();
    };
    // Code that is not loaded yet would empty the page, which starts at the top then.
    for (const name of ['Settings', 'Subscription', 'Settings']) await follow(name);
    await main.evaluate((element) => element.scrollTo({ top: 100 }));
    await follow('Subscription');
    await expect.poll(scrolled).toBe(0);
    await page.goBack();
    await expect(heading(page, 'Settings')).toBeVisible();
    await expect.poll(scrolled).toBe(100);
  });

  await test.step('a lost connection is reported, loaded data stays, and the page reconnects', async () => {
    await page.getByRole('link', { name: 'Back to Dashboard' }).click();
    await expect(page.getByText('No endpoints yet')).toBeVisible();
    await context.setOffline(true);
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel('Endpoint Name (Optional)').fill('kept');
    await page.getByRole('dialog').getByRole('button', { name: 'Create Endpoint' }).click();
    await expect(page.getByText("Can't reach the server.").first()).toBeVisible();
    await expect(page.getByRole('dialog').getByLabel('Endpoint Name (Optional)')).toHaveValue('kept');
    await context.setOffline(false);
    await expect(page.getByText("Can't reach the server. Reconnecting")).toBeHidden({ timeout: 10_000 });
  });
});

test('the theme follows the system until the user chooses one, and is set before the first paint', async ({
  page,
  person: _,
}) => {
  const theme = () => page.locator('html').getAttribute('data-theme');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/settings');
  await expect.poll(theme).toBe('dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(theme).toBe('light');
  await page.getByRole('radio', { name: 'Dark' }).click();
  await expect.poll(theme).toBe('dark');
  await page.emulateMedia({ media: 'print' });
  await expect(page.locator('body'), 'dark text on paper').toHaveCSS('color', 'rgb(29, 27, 24)');
  await page.emulateMedia({ media: 'screen' });
  await page.setViewportSize({ width: 320, height: 740 });
  for (const option of await page.getByRole('radiogroup', { name: 'Theme' }).locator('label').all()) {
    const room = await option.evaluate((label) => {
      const text = label.ownerDocument.createRange();
      text.selectNode(label.lastChild ?? label);
      return label.getBoundingClientRect().right - text.getBoundingClientRect().right;
    });
    expect(room, 'room beside the name of a theme').toBeGreaterThan(4);
  }
  // The page has its colors before the app loads.
  await page.route('**/assets/index-*.js', () => undefined);
  await page.reload({ waitUntil: 'commit' });
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('toasts: one at a time, F8 goes there, 5 seconds, a swipe of 50 px to the right closes', async ({
  page,
  context,
  person: _,
}) => {
  await context.grantPermissions(['clipboard-write']);
  const { uid } = await createEndpoint(page);
  await page.clock.install();
  await page.goto(`/endpoints/${uid}`);
  const region = notifications(page);
  const toasts = region.getByRole('listitem');
  const copy = page.getByRole('region', { name: 'Endpoint URL' }).getByRole('button', { name: 'Copy', exact: true });
  await copy.click();
  await expect(toasts).toHaveText(/URL Copied!/);
  await page.getByRole('switch', { name: 'Autosave' }).click();
  await expect(toasts).toHaveText(/Autosave enabled/);
  await expect(toasts).toHaveCount(1);
  await page.keyboard.press('F8');
  await expect(region.getByRole('list')).toBeFocused();
  // Focus pauses the timer.
  await page.clock.runFor(6000);
  await expect(toasts).toHaveCount(1);
  await copy.focus();
  await page.clock.runFor(5100);
  await expect(toasts).toHaveCount(0);

  // Otherwise the time of a busy machine counts too.
  await page.clock.pauseAt(Date.now() + 60_000);
  await copy.click();
  await expect(toasts).toHaveCount(1);
  await swipe(page, 30);
  await expect(toasts).toHaveCount(1);
  await swipe(page, 80);
  await page.clock.runFor(1000);
  await expect(toasts).toHaveCount(0);
});

async function swipe(page: Page, distance: number): Promise<void> {
  const box = await notifications(page).getByRole('listitem').boundingBox();
  const [x, y] = [(box?.x ?? 0) + 40, (box?.y ?? 0) + 20];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + distance / 2, y);
  await page.mouse.move(x + distance, y);
  await page.mouse.up();
}

test('the page says what it needs where JavaScript is off', async ({ browser, app }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(app.url);
  await expect(page.locator('noscript p')).toBeInViewport();
  await expect(page.getByRole('status', { name: 'Loading', exact: true })).toBeHidden();
  await context.close();
});

test('the page is not blank until the app is loaded', async ({ page }) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/assets/*.js', async (route) => {
    await released;
    await route.fallback();
  });
  await page.goto('/', { waitUntil: 'commit' });
  await expect(page.getByRole('status', { name: 'Loading', exact: true }).getByText('Creel')).toBeInViewport();
  release();
  await expect(page.getByRole('button', { name: 'Login' })).toBeVisible();
  await expect(page.getByRole('status', { name: 'Loading', exact: true })).toBeHidden();
});

test('short events, and the message about a lost connection on a phone', async ({ page, endpoint }) => {
  await test.step('a short event is shown beside a short path', async () => {
    await send(endpoint.url, { headers: { 'x-github-event': 'push' }, body: '{}' });
    await page.goto(`/endpoints/${endpoint.uid}`);
    const cell = row(page, 0).getByRole('gridcell', { name: '/ push' });
    const [event, path] = [
      await cell.getByText('push', { exact: true }).boundingBox(),
      await cell.getByText('/', { exact: true }).boundingBox(),
    ];
    expect(event?.y).toBe(path?.y);
  });

  await test.step('the badges of all rows are below each other, and long methods are shown whole', async () => {
    await send(endpoint.url, {
      path: '/a-path-of-thirty-four-characters/x',
      headers: { 'x-github-event': 'pull_request_review_comment' },
      body: '{}',
    });
    await send(endpoint.url, { method: 'OPTIONS' });
    await page.setViewportSize({ width: 1280, height: 720 });
    await expect(row(page, 2)).toBeVisible();
    const ends = await page
      .getByRole('grid')
      .getByText('Unsaved', { exact: true })
      .evaluateAll((badges) => badges.map((badge) => badge.getBoundingClientRect().right));
    expect(ends).toEqual([ends[0], ends[0], ends[0]]);
    await expectShownWhole(row(page, 2), 'OPTIONS');
    await expectShownWhole(row(page, await send(endpoint.url, { method: 'PROPPATCH' })), 'PROPPATCH');
  });

  await test.step('in a window of 320 px, a path is shown whole beside its badges', async () => {
    const index = await send(endpoint.url, { path: '/orders/1042' });
    await reportAttempt(page, endpoint, index, 503);
    await page.setViewportSize({ width: 320, height: 640 });
    await expect(row(page, index)).toContainText('503');
    await expectShownWhole(row(page, index), '/orders/1042');
    const [path, badge] = [
      await row(page, index).getByText('/orders/1042').boundingBox(),
      await row(page, index).getByText('Unsaved').boundingBox(),
    ];
    expect(badge?.y).toBeGreaterThanOrEqual((path?.y ?? 0) + (path?.height ?? 0));
  });

  await test.step('on a phone, the message about a lost connection leaves the menu button free', async () => {
    await page.setViewportSize(PHONE);
    await page.routeWebSocket(/\/ws\?/, (socket) => socket.close());
    await page.goto(`/endpoints/${endpoint.uid}`);
    const message = page.getByText('Not connected to real-time updates. Refresh the page to reconnect.');
    await expect(message).toBeVisible({ timeout: 30_000 });
    const [over, button] = [
      await message.boundingBox(),
      await page.getByRole('button', { name: 'Open menu' }).boundingBox(),
    ];
    expect(over?.x).toBeGreaterThanOrEqual((button?.x ?? 0) + (button?.width ?? 0));
  });

  await test.step('the message covers nothing of the details on a phone, and nothing beside the sidebar', async () => {
    const message = page.getByText('Not connected to real-time updates. Refresh the page to reconnect.');
    await row(page, 0).click();
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await expect(save).toBeVisible();
    const [over, button] = [await message.boundingBox(), await save.boundingBox()];
    expect(button?.y).toBeGreaterThan((over?.y ?? 0) + (over?.height ?? 0));
    await page.setViewportSize({ width: 1024, height: 768 });
    await expect(page.getByRole('complementary', { name: 'Sidebar' })).toBeVisible();
    const [beside, main] = [await message.boundingBox(), await page.getByRole('main').boundingBox()];
    expect((beside?.x ?? 0) + (beside?.width ?? 0)).toBeLessThanOrEqual(main?.x ?? 0);
  });

  await test.step('in a low window, such as a phone on its side, the list, the sidebar and its menu can be reached', async () => {
    await page.setViewportSize({ width: PHONE.height, height: PHONE.width });
    const entry = page.getByRole('navigation', { name: 'Endpoints' }).getByRole('link');
    await entry.scrollIntoViewIfNeeded();
    await expect(entry).toBeInViewport({ ratio: 1 });

    await page.setViewportSize({ width: PHONE.height, height: 240 });
    await page.goto(`/endpoints/${endpoint.uid}`);
    await row(page, 0).scrollIntoViewIfNeeded();
    await expect(row(page, 0)).toBeInViewport({ ratio: 1 });
    await page.getByRole('button', { name: /^Account of/ }).click();
    for (const name of ['Profile', 'Logout']) {
      const item = page.getByRole('menuitem', { name });
      await item.scrollIntoViewIfNeeded();
      await expect(item).toBeInViewport({ ratio: 1 });
    }
  });
});
