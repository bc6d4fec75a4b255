// The page recovers by itself from changes elsewhere and from failed calls.
import { drawn, expect, test } from './app.ts';
import { detailsOf, goTo, openLive, row, sendJson, sendMany, unsaved } from './endpoints.ts';
import { answerWith, heading, holdCalls, returnToTab } from './pages.ts';

test('an open endpoint follows what is deleted elsewhere, and keeps what could not be deleted', async ({
  page,
  endpoint,
}) => {
  for (const n of [0, 1, 2]) await sendJson(endpoint.url, { n });
  await openLive(page, endpoint, '?request=0');
  const remove = async (path: string): Promise<void> => {
    expect((await page.request.delete(`/api/endpoints/${endpoint.uid}${path}`)).status()).toBe(204);
  };

  await test.step('a request that could not be deleted stays selected', async () => {
    await answerWith(page, '**/requests/*', 500, {}, 'DELETE');
    page.on('dialog', (asked) => void asked.accept());
    await expect(detailsOf(page, 0)).toBeVisible();
    await page.keyboard.press('Delete');
    await expect(page.getByText('Delete failed').first()).toBeVisible();
    await expect(detailsOf(page, 0)).toBeVisible();
    await expect(page).toHaveURL(/request=0/);
    await page.unroute('**/requests/*');
  });

  await test.step('a request that was opened by its URL disappears when it is deleted elsewhere', async () => {
    await expect(detailsOf(page, 0)).toBeVisible();
    await remove(`/requests/${(await unsaved(page, endpoint.uid)).at(-1)?.id}`);
    await expect(page.getByText('This request is not stored any more')).toBeVisible();
  });

  await test.step('the first request after clearing is selected', async () => {
    await row(page, 1).click();
    await expect(detailsOf(page, 1)).toBeVisible();
    await remove('/requests');
    await expect(row(page, 1)).toHaveCount(0);
    await expect(page).not.toHaveURL(/request=/);
    await sendJson(endpoint.url, { n: 3 });
    await expect(detailsOf(page, 3)).toBeVisible();
    await expect(row(page, 3)).toHaveAttribute('aria-selected', 'true');
  });

  await test.step('an endpoint that is deleted elsewhere disappears from the sidebar and the window title', async () => {
    const entry = page.getByRole('complementary').getByRole('link', { name: 'Journey' });
    await expect(entry).toBeVisible();
    await expect(page).toHaveTitle(/Journey/);
    await remove('');
    await expect(page.getByText('Endpoint Not Found')).toBeVisible();
    await expect(entry).toHaveCount(0);
    await expect(page).toHaveTitle(/Endpoint Not Found/);
    await expect(page.getByText('Not connected to real-time updates.')).toHaveCount(0);
  });
});

test('settings are loaded again after a failure, and are not left unsaved without a question', async ({
  page,
  person: _,
}) => {
  await test.step('settings that failed to load are loaded when the server is back', async () => {
    await page.goto('/');
    await expect(page.getByText('No endpoints yet')).toBeVisible();
    await page.waitForLoadState('networkidle');
    await page.route('**/api/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Settings' }).click();
    const message = page.getByText("Can't reach the server.");
    await expect(message).toBeVisible();
    // The message is beside the page and covers nothing of it.
    const [beside, main] = [await message.boundingBox(), await page.getByRole('main').boundingBox()];
    expect((beside?.x ?? 0) + (beside?.width ?? 0)).toBeLessThanOrEqual(main?.x ?? 0);
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    await page.unroute('**/api/**');
    await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible();
    await expect(page.getByText("Can't reach the server.")).toHaveCount(0);
  });

  await test.step('what failed to load in an outage of the storage is loaded when it is over', async () => {
    await goTo(page, '/nowhere');
    await expect(page.getByText('Page Not Found')).toBeVisible();
    await answerWith(page, '**/api/**', 503);
    await goTo(page, '/profile?tab=security');
    await expect(page.getByText('The sessions could not be loaded.')).toBeVisible();
    await expect(page.getByText("The server can't load data now. Trying again…")).toBeVisible();
    await page.unroute('**/api/**');
    await expect(page.getByText('This browser')).toBeVisible();
    await expect(page.getByText("The server can't load data now.")).toHaveCount(0);
  });

  await test.step('so is a page that was opened in the outage, or over a rate limit', async () => {
    for (const status of [503, 429]) {
      await answerWith(page, '**/api/user', status);
      await page.goto('/settings');
      await expect(page.getByText('Failed to fetch user data.')).toBeVisible();
      await page.unroute('**/api/user');
      await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible();
    }
  });

  await test.step('not before the time that the server names', async () => {
    let calls = 0;
    await page.route('**/api/user', (route) => {
      calls++;
      return route.fulfill({ status: 429, headers: { 'retry-after': '20' }, json: {} });
    });
    await page.clock.install();
    await page.goto('/settings');
    await expect(page.getByText('Failed to fetch user data.')).toBeVisible();
    await page.clock.pauseAt(Date.now() + 60_000);
    await expect.poll(() => calls).toBe(2);
    await page.clock.runFor(15_000);
    expect(calls).toBe(2);
    await page.clock.runFor(6000);
    await expect.poll(() => calls).toBe(3);
    await page.unroute('**/api/user');
    await expect(async () => {
      await page.clock.runFor(21_000);
      await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible({ timeout: 1000 });
    }).toPass();
    await page.clock.resume();
  });

  await test.step('leaving unsaved settings asks for confirmation', async () => {
    await page.getByRole('switch', { name: 'Autosave new endpoints' }).click();
    const asked: string[] = [];
    let answer = false;
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void (answer ? dialog.accept() : dialog.dismiss());
    });
    await page.getByRole('link', { name: 'Back to Dashboard' }).click();
    await expect.poll(() => asked).toHaveLength(1);
    await expect(page).toHaveURL(/\/settings$/);
    await expect(page.getByRole('switch', { name: 'Autosave new endpoints' })).toBeChecked();
    answer = true;
    await page.getByRole('link', { name: 'Back to Dashboard' }).click();
    await expect(page.getByText('No endpoints yet')).toBeVisible();
    await goTo(page, '/settings');
    await page.getByRole('switch', { name: 'Autosave new endpoints' }).click();
    await page.getByRole('button', { name: 'Save Settings' }).click();
    await expect(page.getByText('Settings Saved').first()).toBeVisible();
    await page.getByRole('link', { name: 'Back to Dashboard' }).click();
    await expect(page.getByText('No endpoints yet')).toBeVisible();
    expect(asked).toHaveLength(2);
  });
});

test('the page follows what another browser of the user changes', async ({ page, person }) => {
  const autosave = page.getByRole('switch', { name: 'Autosave new endpoints' });
  const saveElsewhere = async (autoSaveNewEndpoints: boolean, email: string): Promise<void> => {
    const data = { autoSaveNewEndpoints, emailNotifyExpiry: false, emailNotifySubscription: false, email };
    expect((await page.request.post('/api/user/settings', { data })).status()).toBe(200);
  };
  await page.goto('/settings');
  await expect(autosave).not.toBeChecked();

  await test.step('settings follow, except for those that the user is editing', async () => {
    await saveElsewhere(true, 'one@example.com');
    await returnToTab(page);
    await expect(autosave).toBeChecked();
    await page.getByLabel('Email', { exact: true }).fill('two@example.com');
    await saveElsewhere(false, 'three@example.com');
    await returnToTab(page);
    await expect(autosave).not.toBeChecked();
    await expect(page.getByLabel('Email', { exact: true })).toHaveValue('two@example.com');
    await page.getByRole('button', { name: 'Save Settings' }).click();
    await expect(page.getByText('Settings Saved').first()).toBeVisible();
    await goTo(page, '/nowhere');
    await expect(page.getByText('Page Not Found')).toBeVisible();
    await saveElsewhere(true, 'two@example.com');
    await goTo(page, '/settings');
    await expect(autosave).toBeChecked();
  });

  await test.step('so does the name of the user, and the end of the session keeps it', async () => {
    await goTo(page, '/profile');
    await expect(page.getByLabel('Username')).toHaveValue(person.username);
    const username = `${person.username}-new`;
    expect((await page.request.put('/api/profile/username', { data: { username } })).status()).toBe(200);
    await returnToTab(page);
    await expect(page.getByRole('button', { name: `Account of ${username}` })).toBeVisible();
    await expect(page.getByLabel('Username')).toHaveValue(username);
    await expect(page.getByRole('button', { name: 'Update Username' })).toBeDisabled();
    await page.context().clearCookies();
    await returnToTab(page);
    const dialog = page.getByRole('dialog', { name: 'You have been logged out' });
    await expect(dialog.getByLabel('Username')).toHaveValue(username);
  });
});

test('what was read on a page is read again when the user returns to it', async ({ page, endpoint }) => {
  await sendMany(endpoint.url, 140);

  await test.step('a request that was opened by its URL', async () => {
    // Not in the list, which shows the newest ones, and not found by its query.
    const search = '?request=5&find=needle-139-';
    const badge = detailsOf(page, 5).getByText('Unsaved', { exact: true });
    await openLive(page, endpoint, search);
    await expect(badge).toBeVisible();
    await goTo(page, '/');
    await expect(heading(page, 'Dashboard')).toBeVisible();
    const path = `/api/endpoints/${endpoint.uid}/save-request`;
    expect((await page.request.post(path, { data: { index: 5 } })).status()).toBe(200);
    await goTo(page, `/endpoints/${endpoint.uid}${search}`);
    await expect(detailsOf(page, 5)).toBeVisible();
    await expect(badge).toHaveCount(0);
  });
});

test('the pages of a captive portal are no responses of the server', async ({ page, endpoint }) => {
  const portal = () =>
    page.route('**/api/**', (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Accept our terms</h1>' }));
  await sendJson(endpoint.url, { long: 'x'.repeat(300_000) });
  await sendJson(endpoint.url, { n: 1 });

  await test.step('a large body is loaded again after it', async () => {
    await openLive(page, endpoint, '?request=1');
    await expect(detailsOf(page, 1)).toBeVisible();
    await portal();
    await row(page, 0).click();
    await expect(detailsOf(page, 0).getByText('The body could not be loaded.')).toBeVisible();
    await expect(detailsOf(page, 0)).not.toContainText('Accept our terms');
    await page.unroute('**/api/**');
    await expect(detailsOf(page, 0).getByText('The body could not be loaded.')).toHaveCount(0);
  });

  await test.step('nothing is deleted by it, and the page says that the server is away', async () => {
    await expect(page.getByText('Not connected to real-time updates.')).toHaveCount(0);
    await portal();
    page.once('dialog', (dialog) => void dialog.accept());
    await page.keyboard.press('Delete');
    await expect(page.getByText('Delete failed').first()).toBeVisible();
    await expect(row(page, 0)).toBeVisible();
    await goTo(page, '/settings');
    await expect(page.getByText("Can't reach the server.")).toBeVisible();
    await page.unroute('**/api/**');
    await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible();
    await expect(page.getByText("Can't reach the server.")).toHaveCount(0);
  });
});

test('a request that was deleted is not restored when the answer is lost', async ({ page, endpoint }) => {
  await sendMany(endpoint.url, 3, 1);
  await openLive(page, endpoint, '?request=1');
  await expect(detailsOf(page, 1)).toBeVisible();
  const { promise: reported, resolve: report } = Promise.withResolvers<void>();
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => /"deleted"/.test(String(payload)) && report()),
  );
  await page.reload();
  await expect(detailsOf(page, 1)).toBeVisible();
  await page.route('**/requests/*', async (route) => {
    if (route.request().method() === 'DELETE') {
      await route.fetch();
      await reported;
    }
    await route.abort();
  });
  page.once('dialog', (dialog) => void dialog.accept());
  const lost = page.waitForEvent('console', (line) => line.text().startsWith('deleteRequest: 0'));
  await page.keyboard.press('Delete');
  await lost;
  await drawn(page);
  await expect(row(page, 1)).toHaveCount(0);
  await expect(row(page, 0)).toBeVisible();
  await expect(row(page, 2)).toBeVisible();
  await expect(page.getByText('Delete failed')).toHaveCount(0);
});

test('a call that is never answered fails', async ({ page, endpoint }) => {
  await sendJson(endpoint.url, { n: 0 });
  await page.clock.install();
  await openLive(page, endpoint, '?request=0');
  const save = await holdCalls(page, '**/save-request');
  await detailsOf(page, 0).getByRole('button', { name: 'Save', exact: true }).click();
  await expect(detailsOf(page, 0).getByRole('button', { name: 'Saving...' })).toBeVisible();
  await expect.poll(save.count).toBe(1);
  await page.clock.fastForward(99_000);
  await expect(detailsOf(page, 0).getByRole('button', { name: 'Saving...' })).toBeVisible();
  await page.clock.fastForward(2000);
  await expect(page.getByText('Save failed').first()).toBeVisible();
  await expect(detailsOf(page, 0).getByRole('button', { name: 'Save', exact: true })).toBeEnabled();
  save.release();
});
