// The selected requests: ranges over what is not loaded, and what others do to them.
import { expect, test, toast } from './app.ts';
import { createEndpoint, goLive, openLive, row, selectionBar, sendMany } from './endpoints.ts';

test.use({ tier: 'PREMIUM' });

test('the selection has what is not loaded, and follows what is deleted and saved', async ({ page, person: _ }) => {
  await test.step('a range has the requests between its ends that are not loaded', async () => {
    const endpoint = await createEndpoint(page);
    await sendMany(endpoint.url, 400);
    const indexes = Array.from({ length: 400 }, (__, index) => index);
    await page.request.post(`/api/endpoints/${endpoint.uid}/save-requests`, { data: { indexes } });
    await openLive(page, endpoint, '?request=20');
    await page.getByRole('checkbox', { name: 'Select request 20', exact: true }).click();
    await row(page, 20).press('Home');
    await page.getByRole('checkbox', { name: 'Select request 398', exact: true }).click({ modifiers: ['Shift'] });
    await expect(selectionBar(page)).toContainText('379 selected');
  });

  await test.step('requests that are deleted elsewhere are not selected, loaded or not', async () => {
    const path = new URL(page.url()).pathname;
    const indexes = Array.from({ length: 250 }, (__, nth) => 50 + nth);
    await page.request.post(`/api${path}/delete-requests`, { data: { indexes } });
    await expect(selectionBar(page)).toContainText('129 selected');
  });

  await test.step('what is saved is not selected in a list of unsaved requests', async () => {
    const endpoint = await createEndpoint(page);
    await sendMany(endpoint.url, 5);
    await goLive(page, endpoint);
    await page.getByRole('combobox', { name: 'Filter the list' }).fill('is:unsaved');
    await expect(page.getByText('5 matches in 5 requests').first()).toBeVisible();
    await page.getByRole('checkbox', { name: 'Select all that match' }).click();
    await expect(selectionBar(page)).toContainText('5 selected');
    await selectionBar(page).getByRole('button', { name: 'Save' }).click();
    await expect(toast(page, '5 requests saved')).toBeVisible();
    await expect(selectionBar(page)).toHaveCount(0);
  });
});
