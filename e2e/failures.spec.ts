// Messages of the endpoint page for failed calls, and for copying.
import { expect, notifications, pressEscape, test, toast } from './app.ts';
import { createEndpoint, detailsOf, goLive, list, row, sendJson } from './endpoints.ts';
import { allowClipboard, answerWith, clipboard, holdCalls, problem } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

test('a failed action leaves everything as it was, and says so', async ({ page, context, person: _ }) => {
  await test.step('an endpoint that cannot be created, deleted or cleared stays as it was', async () => {
    await answerWith(page, '**/api/endpoints', 500, {}, 'POST');
    await page.goto('/');
    await expect(page.getByText('No endpoints yet')).toBeVisible();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'Create Endpoint' });
    const name = dialog.getByLabel('Endpoint Name (Optional)');
    await name.fill('kept');
    await dialog.getByRole('button', { name: 'Create Endpoint' }).click();
    // A dialog hides everything outside of it from screen readers, but not the toasts.
    await expect(page.getByText('Failed to create the endpoint. Please try again.')).toBeVisible();
    await expect(notifications(page).getByRole('list')).toHaveAttribute('aria-live', 'assertive');
    await expect(name).toHaveValue('kept');
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await expect(dialog).toBeHidden();

    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    await answerWith(page, /\/api\/endpoints\/[\w-]+(\/requests)?$/, 500, {}, 'DELETE');
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Clear Data' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Clear Data' }).click();
    await expect(toast(page, 'Failed to clear the endpoint data. Please try again.')).toBeVisible();
    await expect(row(page, 0)).toBeVisible();
    await pressEscape(page);
    await page.getByRole('button', { name: 'Delete', exact: true }).first().click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await expect(toast(page, 'Failed to delete the endpoint. Please try again.')).toBeVisible();
    await expect(page).toHaveURL(new RegExp(endpoint.uid));
  });

  await test.step('a rejected name is reported in the dialog, or at its focused field', async () => {
    const endpoint = await createEndpoint(page);
    await answerWith(page, /\/api\/endpoints\/[\w-]+$/, 500, {}, 'PATCH');
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Edit name and source' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit endpoint' });
    const source = dialog.getByLabel('Source/Tag (Optional)');
    await source.fill('kept');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog.getByRole('alert')).toHaveText('Failed to change the endpoint. Please try again.');
    await expect(source).toHaveValue('kept');

    const sentence = 'No such source';
    const rejection = problem(sentence, 'VALIDATION', { source: sentence });
    await answerWith(page, /\/api\/endpoints\/[\w-]+$/, 400, rejection, 'PATCH');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(source).toHaveAccessibleDescription(new RegExp(sentence));
    await expect(source).toBeFocused();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await expect(dialog).toBeHidden();
  });

  await test.step('a change of the form removes the message about its failed call', async () => {
    const endpoint = await createEndpoint(page);
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Forward', exact: true }).click();
    await page.getByRole('button', { name: 'Add destination' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add destination' });
    await dialog.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/hook');
    await page.route('**/destinations', (route) => route.abort());
    for (const change of [
      () => dialog.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/orders'),
      () => dialog.getByRole('combobox', { name: 'Condition' }).fill('method:POST'),
      () => dialog.getByRole('switch', { name: 'Append the captured path and query' }).click(),
    ]) {
      await dialog.getByRole('button', { name: 'Add destination' }).click();
      await expect(dialog.getByRole('alert')).toContainText('The server could not be reached.');
      await change();
      await expect(dialog.getByRole('alert')).toHaveCount(0);
    }
    await pressEscape(page);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('a request that cannot be saved or deleted stays as it was', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    await answerWith(page, '**/save-request', 500, {}, 'POST');
    await answerWith(page, '**/requests/*', 500, {}, 'DELETE');
    await goLive(page, endpoint);
    await expect(row(page, 0)).toBeVisible();
    await page.keyboard.press('s');
    await expect(toast(page, 'Save failed')).toBeVisible();
    await expect(toast(page, 'Failed to save the webhook request.')).toBeVisible();
    await expect(row(page, 0)).toContainText('Unsaved');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.keyboard.press('Delete');
    await expect(toast(page, 'Delete failed')).toBeVisible();
    await expect(toast(page, 'Failed to delete the webhook request.')).toBeVisible();
    await expect(row(page, 0)).toBeVisible();
  });

  await test.step('a save that takes its time says Saving...', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    const save = await holdCalls(page, '**/save-request');
    await goLive(page, endpoint);
    const details = detailsOf(page, 0);
    await details.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(details.getByRole('button', { name: 'Saving...' })).toBeDisabled();
    await page.keyboard.press('s');
    save.release();
    await expect(toast(page, 'Request saved')).toBeVisible();
    expect(save.count()).toBe(1);
  });

  await test.step('a toast says that the body was copied, or that the browser blocked it', async () => {
    await allowClipboard(context);
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    await goLive(page, endpoint);
    await expect(row(page, 0)).toBeVisible();
    await page.getByRole('button', { name: 'More actions' }).first().click();
    await page.getByRole('menuitem', { name: 'Copy body' }).click();
    await expect(toast(page, 'Body copied to clipboard')).toBeVisible();
    await expect(toast(page, 'The request body has been copied to your clipboard.')).toBeVisible();
    expect(await clipboard(page)).toBe('{"a":1}');
    await sendJson(endpoint.url, { long: 'x'.repeat(400_000) });
    await row(page, 1).click();
    await expect(detailsOf(page, 1)).toBeVisible();
    await answerWith(page, /\/requests\/-\d+\/body$/, 500);
    await page.keyboard.press('c');
    await expect(toast(page, 'The text to copy could not be loaded. It may no longer be stored.')).toBeVisible();
    await row(page, 0).click();
    await expect(detailsOf(page, 0)).toBeVisible();
    await page.evaluate(`
      navigator.clipboard.write = navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
      document.execCommand = () => false;
    `);
    await page.keyboard.press('c');
    await expect(toast(page, 'The browser blocked copying. Select the text and copy it yourself.')).toBeVisible();
  });

  await test.step('a text that must be loaded is copied also where only the click itself may copy, as in Safari', async () => {
    await page.unrouteAll();
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { long: 'x'.repeat(400_000) });
    await page.goto(`/endpoints/${endpoint.uid}`);
    await page.evaluate(`
      let acts = false;
      const end = () => (acts = false);
      addEventListener('click', () => { acts = true; setTimeout(end); }, true);
      for (const name of ['write', 'writeText']) {
        const copy = navigator.clipboard[name].bind(navigator.clipboard);
        navigator.clipboard[name] = (data) => (acts ? copy(data) : Promise.reject(new DOMException('', 'NotAllowedError')));
      }
      document.execCommand = () => false;
    `);
    await detailsOf(page, 0).getByRole('button', { name: 'Copy as cURL' }).click();
    await expect(toast(page, 'Content Copied')).toBeVisible();
    expect(await clipboard(page)).toContain(endpoint.url);
  });

  await test.step('a row has its method, its path with a mark for the query, its size and age', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 }, '/orders?x=1');
    await goLive(page, endpoint);
    for (const text of ['POST', '/orders', '…', '7 B', 'Unsaved']) await expect(row(page, 0)).toContainText(text);
    await expect(row(page, 0)).toHaveAccessibleName(
      /^POST Unknown \/orders … .*Unsaved 7 B (moments|\d+ seconds?) ago$/,
    );
    await expect(list(page).getByRole('columnheader')).toContainText([
      'Method',
      'Source',
      'Path',
      'Size',
      'Time',
      'Actions',
    ]);
  });

  await test.step('an endpoint that was created without an answer is in the list', async () => {
    await page.clock.install();
    await page.goto('/settings');
    await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.route('**/api/endpoints', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      await route.fetch();
      await route.abort();
    });
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'Create Endpoint' });
    await dialog.getByLabel('Endpoint Name (Optional)').fill('unanswered');
    const lost = page.waitForEvent('console', (line) => line.text().startsWith('createEndpoint: 0'));
    await dialog.getByRole('button', { name: 'Create Endpoint' }).click();
    await lost;
    // Less than the seconds after which the list is loaded anyway.
    await expect
      .poll(async () => {
        await page.clock.runFor(100);
        return page.getByRole('link', { name: /^unanswered/, includeHidden: true }).count();
      })
      .toBe(1);
    await expect(dialog).toBeVisible();
  });
});

test('a list that fails to load shows an error', async ({ page, endpoint }) => {
  await sendJson(endpoint.url, { a: 1 });
  await page.routeWebSocket(/\/ws\?/, (socket) => void socket.close({ code: 1001 }));
  await answerWith(page, /\/(temp-)?requests\?/, 500, problem('Out of order'));
  await page.goto(`/endpoints/${endpoint.uid}`);
  await expect(page.getByText('Failed to fetch temporary requests.')).toBeVisible();
  await expect(page.getByText('Out of order')).toBeVisible();
});
