// Messages of the endpoint page for failed calls, and for copying.
import type { Page } from '@playwright/test';
import { expect, pressEscape, test, toast } from './app.ts';
import { createEndpoint, detailsOf, goLive, row, sendJson } from './endpoints.ts';
import { allowClipboard, clipboard } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

const refuse = (page: Page, path: string | RegExp, method: string) =>
  page.route(path, (route) =>
    route.request().method() === method ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
  );

test('a failed action leaves everything as it was, and says so', async ({ page, context, person: _ }) => {
  await test.step('an endpoint that cannot be created, deleted or cleared stays as it was', async () => {
    await refuse(page, '**/api/endpoints', 'POST');
    await page.goto('/');
    await expect(page.getByText('No endpoints yet')).toBeVisible();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'Create Endpoint' });
    const name = dialog.getByLabel('Endpoint Name (Optional)');
    await name.fill('kept');
    await dialog.getByRole('button', { name: 'Create Endpoint' }).click();
    // A dialog hides everything outside of it from screen readers, but not the toasts.
    await expect(page.getByText('Failed to create the endpoint. Please try again.')).toBeVisible();
    await expect(page.getByRole('region', { name: /Notifications/ }).getByRole('list')).toHaveAttribute(
      'aria-live',
      'assertive',
    );
    await expect(name).toHaveValue('kept');
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await expect(dialog).toBeHidden();

    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    await refuse(page, /\/api\/endpoints\/[\w-]+(\/requests)?$/, 'DELETE');
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
    await refuse(page, /\/api\/endpoints\/[\w-]+$/, 'PATCH');
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Edit name and source' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit endpoint' });
    const source = dialog.getByLabel('Source/Tag (Optional)');
    await source.fill('kept');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog.getByRole('alert')).toHaveText('Failed to change the endpoint. Please try again.');
    await expect(source).toHaveValue('kept');

    const sentence = 'No such source';
    await page.route(/\/api\/endpoints\/[\w-]+$/, (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({
            status: 400,
            json: { error: sentence, message: sentence, code: 'VALIDATION', fields: { source: sentence } },
          })
        : route.fallback(),
    );
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(source).toHaveAccessibleDescription(new RegExp(sentence));
    await expect(source).toBeFocused();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await expect(dialog).toBeHidden();
  });

  await test.step('a request that cannot be saved or deleted stays as it was', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 });
    await refuse(page, '**/save-request', 'POST');
    await refuse(page, '**/requests/*', 'DELETE');
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
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    await page.route('**/save-request', async (route) => {
      calls++;
      await held;
      await route.continue();
    });
    await goLive(page, endpoint);
    const details = detailsOf(page, 0);
    await details.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(details.getByRole('button', { name: 'Saving...' })).toBeDisabled();
    await page.keyboard.press('s');
    release();
    await expect(toast(page, 'Request saved')).toBeVisible();
    expect(calls).toBe(1);
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
    await page.route(/\/requests\/-\d+\/body$/, (route) => route.fulfill({ status: 500, json: {} }));
    await page.keyboard.press('c');
    await expect(toast(page, 'The text to copy could not be loaded. It may no longer be stored.')).toBeVisible();
    await row(page, 0).click();
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false');
    await page.keyboard.press('c');
    await expect(toast(page, 'The browser blocked copying. Select the text and copy it yourself.')).toBeVisible();
  });

  await test.step('a row has its method, its path with a mark for the query, its size and age', async () => {
    const endpoint = await createEndpoint(page);
    await sendJson(endpoint.url, { a: 1 }, '/orders?x=1');
    await goLive(page, endpoint);
    for (const text of ['POST', '/orders', '…', '7 B', 'Unsaved']) await expect(row(page, 0)).toContainText(text);
    await expect(row(page, 0)).toHaveAccessibleName(
      /^POST Unknown \/orders … .*Unsaved 7 B (just now|\d+ seconds? ago)$/,
    );
    await expect(page.getByRole('grid', { name: 'Captured requests' }).getByRole('columnheader')).toContainText([
      'Method',
      'Source',
      'Path',
      'Size',
      'Time',
      'Actions',
    ]);
  });
});

test('a list that fails to load shows an error', async ({ page, endpoint }) => {
  await sendJson(endpoint.url, { a: 1 });
  await page.routeWebSocket(/\/ws\?/, (socket) => void socket.close({ code: 1001 }));
  const failure = { error: 'Out of order', message: 'Out of order', code: 'INTERNAL' };
  await page.route(/\/(temp-)?requests\?/, (route) => route.fulfill({ status: 500, json: failure }));
  await page.goto(`/endpoints/${endpoint.uid}`);
  await expect(page.getByText('Failed to fetch temporary requests.')).toBeVisible();
  await expect(page.getByText('Out of order')).toBeVisible();
});
