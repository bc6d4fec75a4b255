// Helpers for tests of any page: the clipboard, the login form, answers of the server, widths.
import { expect } from '@playwright/test';
import type { BrowserContext, Locator, Page } from '@playwright/test';

export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { level: 1, name });

/** Lets the pages of a context read and write the clipboard. */
export const allowClipboard = (context: BrowserContext): Promise<void> =>
  context.grantPermissions(['clipboard-read', 'clipboard-write']);

export const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()');

/** Submits the login form. */
export async function logIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Login' }).click();
}

/** Answers the calls of a page to a path in place of the server. */
export const answerWith = (page: Page, path: string, status: number, json: object = {}) =>
  page.route(path, (route) => route.fulfill({ status, json }));

/** Horizontal overflow of the page and its main part in pixels, after the layout has adapted to the width. */
const OVERFLOW = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  [document.documentElement, document.querySelector('main')].map((each) => each.scrollWidth - each.clientWidth))`;

/** Of a phone, a tablet and a desktop. */
export const WIDTHS = [390, 1024, 1440];

/** Expects that nothing overflows at each of these widths. */
export async function expectFits(page: Page, what: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    expect.soft(await page.evaluate(OVERFLOW), `${what} at ${width}`).toEqual([0, 0]);
  }
}
