// Parts of the app are in separate files that load on first use. A failed load does not affect the rest of the page.
import { expect, test } from './app.ts';
import { detailsOf, row, sendJson } from './endpoints.ts';

test('a page whose first files are missing is loaded again', async ({ page, person: _ }) => {
  for (const type of ['css', 'js'])
    await page.route(new RegExp(`/assets/index-[^/]*\\.${type}$`), (route) => route.fulfill({ status: 404 }), {
      times: 1,
    });
  await page.goto('/settings');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
});

test('an open page is not loaded again because a later script fails', async ({ page, person: _ }) => {
  await page.clock.install();
  await page.goto('/settings');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  const loads: string[] = [];
  page.on('request', (request) => void (request.isNavigationRequest() && loads.push(request.url())));
  // Rejects when the script fails, and its error event has been dispatched by then.
  await expect(page.addScriptTag({ url: '/assets/missing.js' })).rejects.toThrow(/missing\.js/);
  await page.clock.runFor(5000);
  await page.evaluate(() => fetch('/healthz'));
  expect(loads).toEqual([]);
});

test('a tab whose file fails to load says so and retries', async ({ page, endpoint }) => {
  await sendJson(endpoint.url, { part: 'of the whole' });
  const isDown = { value: true };
  await page.route(/\/assets\/raw-tab-[^/]*\.js/, (route) => (isDown.value ? route.abort() : route.fallback()));
  await page.goto(`/endpoints/${endpoint.uid}?request=0`);
  const details = detailsOf(page, 0);
  await details.getByRole('tab', { name: 'Raw' }).click();
  const failed = details.getByRole('alert');
  await expect(failed).toContainText('This part could not be loaded');
  await expect(page.getByRole('heading', { level: 1, name: 'Journey' })).toBeVisible();
  await expect(row(page, 0)).toBeVisible();
  await expect(details.getByRole('button', { name: 'cURL' })).toBeVisible();

  await details.getByRole('tab', { name: 'Headers' }).click();
  await expect(details.getByRole('table').first()).toBeVisible();
  await details.getByRole('tab', { name: 'Raw' }).click();
  await expect(failed).toBeVisible();
  isDown.value = false;
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect(details.getByText('{"part":"of the whole"}')).toBeVisible();
  await expect(row(page, 0)).toBeVisible();
});

test('a page whose file fails to load keeps the sidebar and retries', async ({ page, person: _ }) => {
  const isDown = { value: true };
  await page.route(/\/assets\/settings-page-[^/]*\.js/, (route) => (isDown.value ? route.abort() : route.fallback()));
  await page.goto('/');
  await page.getByRole('link', { name: 'Settings' }).click();
  const failed = page.getByRole('main').getByRole('alert');
  await expect(failed).toContainText('This part could not be loaded');
  await expect(page.getByRole('complementary', { name: 'Sidebar' })).toBeVisible();
  isDown.value = false;
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
});

test('a page whose file fails to load in an outage is loaded when it is over', async ({ page, person: _ }) => {
  await page.route(/\/assets\/settings-page-[^/]*\.js/, (route) => route.abort());
  await page.route('**/api/service', (route) => route.abort());
  await page.goto('/');
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByRole('main').getByRole('alert')).toContainText('This part could not be loaded');
  // Only a check that fails shows the page that there is an outage.
  await page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/service'));
  await page.unrouteAll();
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
});

test('the parts of a request are loaded in advance', async ({ page, endpoint }) => {
  await sendJson(endpoint.url, { part: 'of the whole' });
  const came = page.waitForResponse(/\/assets\/raw-tab-[^/]*\.js/);
  await page.goto(`/endpoints/${endpoint.uid}?request=0`);
  await came;
  await expect(page.getByRole('link', { name: 'Settings' })).toBeVisible();
  await page.waitForLoadState('networkidle');
  await page.route('**/assets/**', (route) => route.abort());
  await page.getByRole('tab', { name: 'Raw' }).click();
  await expect(page.getByText('{"part":"of the whole"}')).toBeVisible();
});
