// A downgrade deletes exactly the endpoints that it lists by name, and offers to export them first.
import { capturedRequestSchema } from '@creel/contract';
import type { Page } from '@playwright/test';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { expect, test, toast } from './app.ts';
import { createEndpoint, send } from './endpoints.ts';
import { planCard, subscribe } from './plans.ts';
import { answerWith, problem } from './pages.ts';

const NAMES = ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven'];
const lineSchema = capturedRequestSchema.extend({ endpointUid: z.string() });

const deletions = (page: Page) => page.getByRole('alertdialog').getByRole('list', { name: 'Endpoints to be deleted' });

test('a downgrade asks with the endpoints that it deletes', async ({ page, person: _ }) => {
  await subscribe(page, 'PREMIUM');
  const endpoints = [];
  for (const name of NAMES) endpoints.push(await createEndpoint(page, name));
  const [first, second, third] = endpoints;
  expect(first && second && third).toBeTruthy();
  const bytes = Uint8Array.from({ length: 70_000 }, (__, at) => (at * 31) & 255);
  await send(first?.url ?? '', { body: 'grüße\n' });
  await send(first?.url ?? '', { body: bytes });
  await send(third?.url ?? '', { body: 'of an endpoint that stays' });
  await page.request.patch(`/api/endpoints/${second?.uid}`, { data: { isFavorite: true } });
  await page.goto('/subscription');

  await test.step('a preview that failed to load can be retried, and nothing is confirmed without it', async () => {
    await answerWith(page, '**/api/subscription/preview?*', 500, problem('Out of order'));
    await page.getByRole('button', { name: 'Downgrade to Basic' }).click();
    const dialog = page.getByRole('alertdialog');
    await expect(dialog.getByRole('alert')).toContainText('Out of order');
    const confirm = dialog.getByRole('button', { name: 'Downgrade to Basic' });
    await expect(confirm).toBeDisabled();
    await page.unrouteAll();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await expect(deletions(page).getByRole('listitem')).toHaveCount(2);
    await expect(confirm).toBeEnabled();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(planCard(page, 'PREMIUM').getByText('Current plan').first()).toBeVisible();
  });

  await test.step('a downgrade lists the oldest endpoints, exports their requests exactly, and deletes these alone', async () => {
    await page.getByRole('button', { name: 'Downgrade to Basic' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Downgrade to Basic' });
    await expect(dialog).toContainText('Deletes 2 endpoints and all their requests now:');
    await expect(deletions(page).getByRole('listitem')).toHaveText(['One2 requests', 'Two0 requests']);
    await expect(dialog).toContainText('1 favorite will no longer be a favorite.');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('link', { name: 'Export requests' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^creel-export-.*\.ndjson$/);
    const [head = '', ...lines] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    expect(JSON.parse(head)).toMatchObject({ format: 'creel-export' });
    const requests = lines.map((line) => lineSchema.parse(JSON.parse(line)));
    expect(requests.map(({ endpointUid, bodyTruncated }) => [endpointUid, bodyTruncated])).toEqual([
      [first?.uid, false],
      [first?.uid, false],
    ]);
    const bodies = requests.map(({ body, bodyEncoding }) => Buffer.from(body ?? '', bodyEncoding));
    expect(bodies.toSorted((a, b) => a.length - b.length)).toEqual([Buffer.from('grüße\n'), Buffer.from(bytes)]);

    await dialog.getByRole('button', { name: 'Downgrade to Basic' }).click();
    await expect(toast(page, 'You are on the Basic plan now.')).toBeVisible();
    const list = page.getByRole('navigation', { name: 'Endpoints' }).getByRole('link');
    await expect(list).toHaveCount(5);
    await expect(list).toHaveText([/Seven/, /Six/, /Five/, /Four/, /Three/]);
    await expect(list.first()).toContainText(/Expires/);
  });
});
