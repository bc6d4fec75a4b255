// Helpers for tests of the replay panel.
import type { Endpoint } from '@creel/contract';
import { expect } from '@playwright/test';
import type { Locator, Page } from '@playwright/test';
import { detailsOf, openLive, row } from './endpoints.ts';

export const urlField = (page: Page): Locator => page.getByLabel('Destination URL');
export const methodField = (page: Page): Locator => page.getByLabel('Method', { exact: true });
export const sendButton = (page: Page): Locator => page.getByRole('button', { name: 'Send Request' });
export const response = (page: Page): Locator => page.getByRole('region', { name: 'Response', exact: true });
export const bodyField = (page: Page): Locator => page.getByRole('textbox', { name: 'Body', exact: true });

/**
 * Selects a request and opens its replay panel with the key.
 * @param open loads the endpoint's page or, with `goLive`, goes there within the app
 */
export async function openReplay(page: Page, endpoint: Endpoint, index = 0, open = openLive): Promise<void> {
  await open(page, endpoint, `?request=${index}`);
  await expect(detailsOf(page, index)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Replay Request' })).toBeVisible();
  await page.keyboard.press('r');
  await expect(urlField(page)).toBeFocused();
}

/** Selects a request in the list and opens its replay panel with the key. */
export async function replayRow(page: Page, index: number): Promise<void> {
  await row(page, index).click();
  await expect(detailsOf(page, index)).toBeVisible();
  await page.keyboard.press('r');
}

/** Sends the open request to a URL and waits for the response. */
export async function sendTo(page: Page, url: string): Promise<void> {
  const tabs = response(page).getByRole('tablist');
  const before = await tabs.elementHandles();
  await urlField(page).fill(url);
  await sendButton(page).click();
  // The response of the send before is shown until the page has begun to send.
  for (const old of before) await old.waitForElementState('hidden');
  await expect(tabs).toBeVisible();
}
