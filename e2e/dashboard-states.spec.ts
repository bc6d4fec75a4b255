// The three states of the dashboard, and the limits of the Free plan.
import { drawn, expect, test } from './app.ts';
import { changeEndpoint, createEndpoint, filterField, goTo, send } from './endpoints.ts';
import { answerWith, DESKTOP, heading, holdCalls, holdSockets, PHONE, problem } from './pages.ts';

test('loading shows three placeholder cards', async ({ page, person: _ }) => {
  const { release } = await holdCalls(page, '**/api/endpoints');
  await page.goto('/');
  await expect(page.locator('[data-skeleton]')).toHaveCount(3);
  release();
  await expect(page.getByText('No endpoints yet')).toBeVisible();
});

test('a list that was read before a deletion does not show the endpoint again', async ({ page, endpoint }) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  // A live connection would report the deletion, too.
  await page.routeWebSocket(/\/ws\?/, () => undefined);
  await page.goto(`/endpoints/${endpoint.uid}`);
  await expect(page.getByRole('complementary').getByRole('link', { name: 'Journey' })).toBeVisible();
  await page.route(
    '**/api/endpoints',
    async (route) => {
      const response = await route.fetch();
      await released;
      // The page may have canceled it.
      await route.fulfill({ response }).catch(() => undefined);
      answer();
    },
    { times: 1 },
  );
  const reading = page.waitForRequest('**/api/endpoints');
  for (const action of ['Clear Data', 'Delete']) {
    await page.getByRole('button', { name: action, exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: action }).click();
    await reading;
  }
  await expect(page.getByText('No endpoints yet')).toBeVisible();
  release();
  await answered;
  // Then the answer would be on the screen.
  await goTo(page, '/settings');
  await expect(heading(page, 'Settings')).toBeVisible();
  expect(await page.getByRole('complementary').getByRole('link', { name: 'Journey' }).count()).toBe(0);
});

test('a list that fails says so on the dashboard and in the sidebar, and can be asked for again', async ({
  page,
  person: _,
}) => {
  await answerWith(page, '**/api/endpoints', 500, problem('Out of order'));
  await page.goto('/');
  await expect(page.getByText('Error loading endpoints')).toBeVisible();
  await expect(page.getByText('Out of order')).toBeVisible();
  await expect(page.getByText('Failed to load endpoints')).toBeVisible();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('No endpoints yet')).toBeVisible();
});

test('Free allows one endpoint and no favorites, and the page says both', async ({ page, person: _ }) => {
  await page.goto('/');
  await expect(page.getByText('No endpoints yet')).toBeVisible();
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByRole('button', { name: 'Create Endpoint' }).click();
  await expect(page).toHaveURL(/\/endpoints\//);
  const favorite = page.getByRole('switch', { name: 'Favorite' });
  await expect(favorite).toBeDisabled();
  await expect(favorite).toHaveAccessibleDescription('Upgrade plan for favorites');
  await favorite.hover();
  await expect(page.getByText('Upgrade plan for favorites')).toBeVisible();

  await page.getByRole('button', { name: 'New Endpoint' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create Endpoint' });
  await expect(dialog.getByText('Free users can only create one endpoint. Please upgrade for more.')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Create Endpoint' })).toBeDisabled();
  await dialog.getByRole('link', { name: 'Upgrade' }).click();
  await expect(page).toHaveURL(/\/subscription$/);
  await expect(dialog).toBeHidden();
});

test('a missing endpoint is requested once; a failing request is tried four times', async ({ page, person: _ }) => {
  let asked = 0;
  await page.route('**/api/endpoints/*', async (route) => {
    asked++;
    await route.fulfill({ status: 503, json: problem('Out of order') });
  });
  await page.clock.install();
  await page.goto('/endpoints/whatever');
  await expect(page.getByText('Loading endpoint...')).toBeVisible();
  // A second is between two tries.
  const waitForTries = async (): Promise<number> => {
    await page.clock.runFor(1000);
    return asked;
  };
  await expect.poll(waitForTries).toBe(4);
  await expect(page.getByText('The endpoint could not be loaded')).toBeVisible();
  expect(asked).toBe(4);

  await test.step('an endpoint without requests says so before its list is loaded', async () => {
    await page.unrouteAll();
    const endpoint = await createEndpoint(page);
    await page.routeWebSocket(/\/ws\?/, () => undefined);
    await page.route(/\/(temp-)?requests\?/, () => undefined);
    await page.goto(`/endpoints/${endpoint.uid}`);
    await expect(page.getByText('No requests received yet.')).toBeVisible();
  });

  await test.step('an endpoint loads while the file of its page does', async () => {
    await page.route(/\/assets\/endpoint-page-[^/]*\.js/, () => undefined);
    await page.goto('/endpoints/whatever');
    await expect(page.getByText('Loading endpoint...')).toBeVisible();
  });
});

test('until the user is known, the page says that it loads', async ({ page, person: _ }) => {
  const user = await holdCalls(page, '**/api/user');
  await page.goto('/');
  await expect.poll(user.count).toBe(1);
  const loading = page.getByRole('status', { name: 'Loading', exact: true });
  await expect(loading).toBeVisible();
  user.release();
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
  await expect(loading).toHaveCount(0);
});

/** Runs in the page before its scripts: collects what moves after it was painted. */
const OBSERVE_SHIFTS = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      globalThis.shifts.push(value + ': ' + sources.map(({ node }) => node?.textContent.slice(0, 40)).join(' | '));
  }).observe({ type: 'layout-shift', buffered: true });`;

test('what arrives late moves nothing', async ({ page, endpoint }) => {
  await test.step('what the server offers is asked for together with the user', async () => {
    const user = await holdCalls(page, '**/api/user');
    const info = await holdCalls(page, '**/api/service');
    await page.goto('/profile');
    await expect.poll(() => [user.count(), info.count()]).toEqual([1, 1]);
    info.release();
    user.release();
    await expect(page.getByText('Email is off on this server')).toBeVisible();
  });

  for (const [path, late] of [
    ['/settings', page.getByText('Email is off on this server')],
    ['/subscription', page.getByText('Test mode, no card is charged.')],
    ['/profile', page.getByText('Email is off on this server')],
    ['/search', page.getByRole('option', { name: 'Orders of the staging shop' })],
  ] as const) {
    await test.step(`what the server offers and the endpoints, on ${path}`, async () => {
      await changeEndpoint(page, endpoint, { name: 'Orders of the staging shop' });
      await page.addInitScript(OBSERVE_SHIFTS);
      await page.setViewportSize(PHONE);
      const held = await holdCalls(page, /\/api\/(service|endpoints)$/);
      await page.goto(path);
      await expect(
        page
          .getByRole('status', { name: /Loading/ })
          .or(page.getByRole('heading', { level: 1 }))
          .first(),
      ).toBeVisible();
      await page.evaluate('document.fonts.ready.then(() => (globalThis.shifts.length = 0))');
      held.release();
      await expect(late).toBeAttached();
      await drawn(page);
      expect(await page.evaluate('globalThis.shifts')).toEqual([]);
      await page.unrouteAll();
      await page.setViewportSize(DESKTOP);
    });
  }

  await test.step('what follows the settings waits for them', async () => {
    const settings = await holdCalls(page, '**/api/user/settings');
    await page.goto('/settings');
    await expect(page.getByRole('status', { name: 'Loading settings' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Appearance' })).toHaveCount(0);
    settings.release();
    await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Appearance' })).toBeVisible();
  });

  await test.step('an empty endpoint that becomes live', async () => {
    let isDown = true;
    await page.routeWebSocket(/\/ws\?/, async (socket) => {
      if (isDown) await socket.close({ code: 1001 });
      else socket.connectToServer();
    });
    await page.goto(`/endpoints/${endpoint.uid}`);
    await expect(page.getByText('Not connected to real-time updates.')).toBeVisible();
    const button = page.getByRole('button', { name: 'Send a test request' });
    const before = await button.boundingBox();
    isDown = false;
    await expect(page.getByText('Live: waiting for the first request')).toBeVisible();
    expect(await button.boundingBox()).toEqual(before);
  });

  await test.step('the tabs above the list when the first request arrives', async () => {
    const tabs = () =>
      page
        .getByRole('tablist', { name: 'Filter by method' })
        .getByRole('tab')
        .evaluateAll((all) => all.map((tab) => tab.getBoundingClientRect().toJSON()));
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.request.delete(`/api/endpoints/${endpoint.uid}/requests`);
      await expect(page.getByText('No requests received yet.')).toBeVisible();
      const before = await tabs();
      await send(endpoint.url);
      await expect(filterField(page)).toBeVisible();
      expect(await tabs(), `at ${width} px`).toEqual(before);
    }
    await page.setViewportSize(DESKTOP);
  });

  await test.step('the filter field beside a connection that opens late, a list that is paused, and a lost connection', async () => {
    const { release } = await holdSockets(page, /\/ws\?/);
    await send(endpoint.url);
    await page.goto(`/endpoints/${endpoint.uid}`);
    const mark = page.getByRole('status').filter({ hasText: 'Connecting' });
    await expect(mark).toBeVisible();
    const before = await filterField(page).boundingBox();
    release();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    expect(await filterField(page).boundingBox()).toEqual(before);
    await page.keyboard.press('p');
    await expect(page.getByText('Paused', { exact: true })).toBeVisible();
    expect(await filterField(page).boundingBox()).toEqual(before);
    await page.context().setOffline(true);
    await expect(page.getByText('Offline', { exact: true })).toBeVisible();
    expect(await filterField(page).boundingBox()).toEqual(before);
    await page.context().setOffline(false);
  });
});
