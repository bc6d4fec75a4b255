// Creating an endpoint, its switches and figures, clearing and deleting, on a plan that allows all of it.
import { expect, notifications, register, test, toast } from './app.ts';
import { createEndpoint, goLive, goTo, openLive, sendJson } from './endpoints.ts';
import { allowClipboard, answerWith, clipboard } from './pages.ts';

test.use({ tier: 'PREMIUM' });

test('endpoints are created, used, cleared and deleted', async ({ page, person }) => {
  await test.step('a created endpoint is opened, listed and shown on the dashboard', async () => {
    await page.goto('/');
    await page.getByRole('main').getByRole('button', { name: 'Create Endpoint' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create Endpoint' });
    await expect(dialog.getByLabel('Source/Tag (Optional)')).toHaveAccessibleDescription(
      'If empty, it is detected from the first request.',
    );
    await dialog.getByLabel('Endpoint Name (Optional)').fill('Stripe billing');
    await dialog.getByRole('button', { name: 'Create Endpoint' }).click();
    // First, because it disappears while the page loads. The text is there once, even while a screen reader announces it.
    await expect(page.getByText('Endpoint Created')).toBeVisible();
    await expect(page).toHaveURL(/\/endpoints\/[\w-]{20,}$/);
    await expect(page.getByRole('heading', { level: 1, name: 'Stripe billing' })).toBeVisible();
    await expect(page).toHaveTitle('Stripe billing · Creel');
    await expect(notifications(page).getByRole('list')).toHaveAttribute('aria-live', 'polite');
    await expect(page.getByText('Active', { exact: true })).toBeVisible();
    await expect(page.getByRole('main').getByText(/^Expires on /)).toBeVisible();
    await expect(page.getByText('1 of 20')).toBeVisible();
    expect(person.user.subscriptionTier).toBe('PREMIUM');

    await page.getByRole('link', { name: 'Creel, home' }).click();
    // All of the card is the link, so a press on any text of it opens the endpoint.
    const card = page.getByRole('main').getByRole('link', { name: 'Stripe billing', exact: true });
    for (const text of ['Active', 'Never', 'Requests', /^Created /, /^Expires /]) {
      await expect(card.getByText(text).first()).toBeVisible();
    }
    await card.getByText('Never', { exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Stripe billing' })).toBeVisible();
  });

  await test.step('the figures and the count of this session follow what arrives', async () => {
    const endpoint = await createEndpoint(page, 'Figures');
    const { url } = endpoint;
    await page.request.post(url, { data: 'x'.repeat(2048) });
    // Only captures over the live connection count for this session, so the page connects before the first one.
    await goLive(page, endpoint);
    const figure = (title: string) => page.locator(`[data-stat="${title}"]`);
    await expect(figure('Total Requests')).toHaveText('1');
    await expect(figure('Average Size')).toHaveText('2.0 KB');
    await expect(page.getByText('in last session')).toBeHidden();
    await page.request.get(url);
    await page.request.get(url);
    await expect(figure('Total Requests')).toHaveText('3');
    await expect(figure('GET Requests')).toHaveText('2');
    await expect(figure('POST Requests')).toHaveText('1');
    await expect(page.getByText('+2 in last session')).toBeVisible();
  });

  await test.step('the sidebar has the figures of the page that it opens', async () => {
    const { url } = await createEndpoint(page, 'Opened');
    await page.goto('/settings');
    const link = page.getByRole('link', { name: 'Opened' });
    await expect(link).toContainText('0 stored');
    await page.request.post(url);
    await link.click();
    await expect(page.locator('[data-stat="Total Requests"]')).toHaveText('1');
    await expect(link).toContainText('1 stored');
  });

  await test.step('an endpoint with a request is found, cleared and deleted', async () => {
    const { uid, url } = await createEndpoint(page, 'Searched');

    await test.step('search leads to the request in its endpoint', async () => {
      await page.request.post(`${url}/push?delivery=7`, { data: { ref: 'refs/heads/needle' } });
      await goTo(page, '/');
      await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: 'Search requests' }).fill('NEEDLE');
      await expect(page).toHaveURL(/\/search\?q=NEEDLE/);
      const row = page.getByRole('main').getByRole('link', { name: /push/ });
      await expect(row.locator('mark')).toHaveText('needle');
      await row.click();
      await expect(page).toHaveURL(new RegExp(`/endpoints/${uid}\\?request=0`));
      await page.goBack();
      await expect(page.getByRole('combobox', { name: 'Search requests' })).toHaveValue('NEEDLE');
      await page.getByRole('combobox', { name: 'Search requests' }).fill('nowhere to be found');
      await expect(page.getByText('Nothing found')).toBeVisible();
    });

    await test.step('clearing and deleting ask first', async () => {
      await page.request.post(`${url}/push`);
      await goTo(page, `/endpoints/${uid}`);
      const sparklines = page.getByRole('region', { name: 'Statistics' }).getByRole('img');
      await expect(sparklines.first()).toBeVisible();
      await page.getByRole('button', { name: 'Clear Data' }).click();
      const clear = page.getByRole('alertdialog', { name: 'Clear Request Data' });
      await expect(clear).toHaveAccessibleDescription(
        'This will delete all request data for this endpoint. The endpoint will remain active, but all request history will be removed.',
      );
      await clear.getByRole('button', { name: 'Clear Data' }).click();
      await expect(toast(page, 'Data Cleared')).toBeVisible();
      await expect(page.locator('[data-stat="Total Requests"]')).toHaveText('0');
      await expect(sparklines).toHaveCount(0);

      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const remove = page.getByRole('alertdialog', { name: 'Delete Webhook Endpoint' });
      await expect(remove).toHaveAccessibleDescription(
        'This will permanently delete the endpoint and all its request data. This action cannot be undone.',
      );
      await remove.getByRole('button', { name: 'Cancel' }).click();
      await expect(page).toHaveURL(new RegExp(uid));
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await remove.getByRole('button', { name: 'Delete' }).click();
      await expect(toast(page, 'Endpoint Deleted')).toBeVisible();
      await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
      // The focused element disappeared with its page, so the next page has the focus.
      await expect(page.getByRole('main')).toBeFocused();

      await goTo(page, `/endpoints/${uid}`);
      await expect(page.getByRole('heading', { name: 'Endpoint Not Found' })).toBeVisible();
      await expect(
        page.getByText("The webhook endpoint you're looking for doesn't exist or has expired."),
      ).toBeVisible();
      await page.getByRole('link', { name: 'Go Home' }).click();
      await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
    });
  });

  await test.step('a deletion leads to the dashboard also if the live connection reports it before the answer', async () => {
    const endpoint = await createEndpoint(page, 'Slow answer');
    const answer = Promise.withResolvers<void>();
    const path = `**/api/endpoints/${endpoint.uid}`;
    await page.route(path, async (route) => {
      if (route.request().method() !== 'DELETE') return route.fallback();
      const response = await route.fetch();
      await answer.promise;
      await route.fulfill({ response });
    });
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await expect(page.getByRole('heading', { name: 'Endpoint Not Found' })).toBeVisible();
    answer.resolve();
    await expect(toast(page, 'Endpoint Deleted')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
    await page.unroute(path);
  });
});

test("another user's endpoint looks like a missing one, and the page says who can open it", async ({
  page,
  person,
  app,
  browser,
}) => {
  const other = await browser.newContext({ baseURL: app.url });
  await register(other);
  const { uid } = await createEndpoint(other);
  await other.close();
  const open = async (path: string): Promise<string> => {
    await page.goto(`/endpoints/${path}`);
    await expect(page.getByRole('heading', { name: 'Endpoint Not Found' })).toBeVisible();
    return page.getByRole('main').ariaSnapshot();
  };
  const foreign = await open(uid);
  expect(foreign).toContain('Only the account that created an endpoint can open it.');
  expect(foreign).toContain(person.username);
  expect(await open('missing')).toBe(foreign);
});

test('an empty endpoint has hints and tabs, is renamed, and its URL is copied', async ({
  page,
  context,
  person: _,
}) => {
  await allowClipboard(context);
  const { uid, url } = await createEndpoint(page, 'Before');
  await page.goto(`/endpoints/${uid}`);

  await test.step('an empty endpoint has the name of its URL card, each hint, and the tabs', async () => {
    await expect(page.getByRole('heading', { name: 'Endpoint URL' })).toBeAttached();
    for (const hint of [
      'Send HTTP requests to this URL to view them in the dashboard below.',
      "Autosave is disabled. You'll need to manually save incoming webhook requests.",
    ]) {
      await expect(page.getByText(hint, { exact: true })).toBeVisible();
    }
    for (const name of ['GET', 'POST', 'PUT', 'DELETE', 'All Requests']) {
      await page.getByRole('tab', { name, exact: true }).click();
      await expect(page.getByRole('tab', { name, exact: true })).toHaveAttribute('aria-selected', 'true');
      await expect(page.getByText('No requests received yet.')).toBeVisible();
    }
  });

  await test.step('in a low window its text begins at the top, from where it scrolls', async () => {
    await page.setViewportSize({ width: 1024, height: 450 });
    await expect(page.getByText('No requests received yet.')).toBeInViewport({ ratio: 1 });
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await test.step('name and source can be changed, and an empty name shows the uid again', async () => {
    const heading = page.getByRole('heading', { level: 1 });
    const rename = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Edit name and source' }).click();
      const dialog = page.getByRole('dialog', { name: 'Edit endpoint' });
      await dialog.getByLabel('Endpoint Name (Optional)').fill(name);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await expect(dialog).toBeHidden();
    };
    await rename('After');
    await expect(heading).toHaveText('After');
    await expect(page.getByRole('navigation', { name: 'Endpoints' }).getByText('After')).toBeVisible();
    await rename(' ');
    await expect(heading).toHaveText(`webhook/${uid.slice(0, 8)}`);
  });

  await test.step('the URL is copied', async () => {
    await expect(page.getByText('No requests received yet.')).toBeVisible();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('region', { name: 'Endpoint URL' }).getByRole('button', { name: 'Copy', exact: true }).click();
    await expect(toast(page, 'URL Copied!')).toBeVisible();
    expect(await clipboard(page)).toBe(url);
    await expect(page.locator('[data-copied]')).toBeVisible();
    await page.clock.runFor(1900);
    await expect(page.locator('[data-copied]')).toBeVisible();
    await page.clock.runFor(200);
    await expect(page.locator('[data-copied]')).toBeHidden();
  });
});

test('an expired endpoint without requests does not say that it waits for one', async ({ page, endpoint }) => {
  const live = page.getByText('Live: waiting for the first request');
  const button = page.getByRole('button', { name: 'Send a test request' });
  await page.goto(`/endpoints/${endpoint.uid}`);
  await expect(live).toBeVisible();
  await expect(button).toBeEnabled();
  const expired = new Date(Date.parse(endpoint.expiresAt ?? '') + 1000);
  // The page follows the clock of the server.
  await page.route('**/api/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), date: expired.toUTCString() } });
  });
  await page.clock.setFixedTime(expired);
  await expect(page.getByText('Expired: senders receive status 410, and no new requests are captured.')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Endpoints' })).toContainText('Expired');
  await expect(live).toHaveCount(0);
  await expect(button).toBeDisabled();
});

test('a machine whose clock is wrong shows the times of the server', async ({ page, endpoint }) => {
  await page.clock.install({ time: Date.now() + 20 * 86_400_000 });
  await page.goto(`/endpoints/${endpoint.uid}`);
  await expect(page.getByText('Live: waiting for the first request')).toBeVisible();
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  await sendJson(endpoint.url, { type: 'a' });
  await expect(page.getByRole('row').getByText(/^(now|\d+s)$/)).toBeVisible();
});

test('an endpoint without a name is shown by its uid', async ({ page, person: _ }) => {
  await page.goto('/');
  await expect(page.getByText('No endpoints yet')).toBeVisible();
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByRole('button', { name: 'Create Endpoint' }).click();
  await expect(page).toHaveURL(/\/endpoints\//);
  const uid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`webhook/${uid.slice(0, 8)}`);
});

test('the switches act at once, say so, and go back when the server refuses', async ({ page, person: _ }) => {
  const { uid } = await createEndpoint(page, 'Switches');
  await page.goto(`/endpoints/${uid}`);
  const favorite = page.getByRole('switch', { name: 'Favorite' });
  const autosave = page.getByRole('switch', { name: 'Autosave' });
  await favorite.click();
  await expect(toast(page, 'Added to favorites')).toBeVisible();
  await expect(toast(page, 'This endpoint will never expire.')).toBeVisible();
  await expect(page.getByText('Never expires (Favorite)')).toBeVisible();
  await expect(page.getByText('This endpoint is marked as a favorite and will never expire.')).toBeVisible();
  await favorite.click();
  await expect(toast(page, 'Removed from favorites')).toBeVisible();
  await expect(toast(page, 'This endpoint will expire based on your subscription tier.')).toBeVisible();
  await autosave.click();
  await expect(toast(page, 'Autosave enabled')).toBeVisible();
  await expect(
    page.getByText('Autosave is enabled. All incoming webhook requests will be automatically saved.'),
  ).toBeVisible();
  await expect(toast(page, 'Webhook requests will be automatically saved.')).toBeVisible();
  await autosave.click();
  await expect(toast(page, 'Autosave disabled')).toBeVisible();
  await expect(toast(page, 'Webhook requests will need to be manually saved.')).toBeVisible();
  await autosave.click();
  await expect(toast(page, 'Autosave enabled')).toBeVisible();

  await answerWith(page, `**/api/endpoints/${uid}`, 500, {}, 'PATCH');
  await favorite.click();
  await expect(toast(page, 'Failed to update favorite: 500')).toBeVisible();
  await expect(favorite).not.toBeChecked();
  await autosave.click();
  await expect(toast(page, 'Failed to update autosave setting. Please try again.')).toBeVisible();
  await expect(autosave).toBeChecked();
  await page.route(`**/api/endpoints/${uid}`, (route) =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  );
  await favorite.click();
  await expect(toast(page, 'Update failed')).toBeVisible();
  await expect(toast(page, 'Failed to update favorite setting. Please try again.')).toBeVisible();
  await expect(favorite).not.toBeChecked();
});

test('the sidebar scrolls to the endpoint whose page is open', async ({ page, endpoint }) => {
  for (let at = 0; at < 14; at++) await createEndpoint(page, `Newer ${at}`);
  await page.setViewportSize({ width: 1280, height: 720 });
  await openLive(page, endpoint);
  const links = page.getByRole('complementary').getByRole('list').getByRole('link');
  await expect(links).toHaveCount(15);
  await expect(links.last()).toHaveAttribute('aria-current', 'page');
  await expect(links.last()).toBeInViewport({ ratio: 1 });
  await expect(links.first()).not.toBeInViewport();
});
