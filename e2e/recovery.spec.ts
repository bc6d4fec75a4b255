// What changes elsewhere, and what could not be asked for, is put right without anybody's doing.
import { expect, test } from './app.ts';
import { createEndpoint, openLive } from './endpoints.ts';

test('an endpoint that is deleted elsewhere leaves the sidebar at once', async ({ page, context, person, app }) => {
  expect(person.username).toBeTruthy();
  const gone = await createEndpoint(context, app, 'Soon gone');
  await openLive(page, gone);
  const entry = page.getByRole('complementary').getByRole('link', { name: 'Soon gone' });
  await expect(entry).toBeVisible();
  expect((await context.request.delete(`${app.url}/api/endpoints/${gone.uid}`)).ok()).toBe(true);
  await expect(page.getByText('Endpoint Not Found')).toBeVisible();
  await expect(entry).toHaveCount(0);
});

test('settings that could not be loaded come by themselves when the server is back', async ({ page, person: _ }) => {
  await page.goto('/');
  await expect(page.getByText('No endpoints yet')).toBeVisible();
  await page.waitForLoadState('networkidle');
  await page.route('**/api/**', (route) => route.abort());
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByText('The server cannot be reached.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  await page.unroute('**/api/**');
  await expect(page.getByRole('button', { name: 'Save Settings' })).toBeVisible();
  await expect(page.getByText('The server cannot be reached.')).toHaveCount(0);
});
