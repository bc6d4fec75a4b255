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

/** Logs out by the menu of the account. */
export async function logOut(page: Page, username: string): Promise<void> {
  await page.getByRole('button', { name: `Account of ${username}` }).click();
  await page.getByRole('menuitem', { name: 'Logout' }).click();
  await expect(page).toHaveURL(/\/auth$/);
}

/** The body of a rejected call. */
export const problem = (sentence: string, code = 'INTERNAL', fields: Readonly<Record<string, string>> = {}) => ({
  error: sentence,
  message: sentence,
  code,
  fields,
});

/** Answers the calls of a page to a path in place of the server, by default those of every method. */
export const answerWith = (page: Page, path: string | RegExp, status: number, json: object = {}, method?: string) =>
  page.route(path, (route) =>
    method === undefined || route.request().method() === method ? route.fulfill({ status, json }) : route.fallback(),
  );

/** Changes fields of the server's answers to a path. */
export const changeAnswer = (page: Page, path: string, change: object) =>
  page.route(path, async (route) => {
    const answer = await route.fetch();
    const found: object = await answer.json();
    await route.fulfill({ json: { ...found, ...change } });
  });

/** Holds the calls of a page to a path until `release` sends them to the server. `count` is the number of calls. */
export async function holdCalls(page: Page, path: string | RegExp, method?: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let calls = 0;
  await page.route(path, async (route) => {
    if (method !== undefined && route.request().method() !== method) return route.fallback();
    calls++;
    await released;
    await route.continue();
  });
  return { release, count: () => calls };
}

/** Holds the live connections of a page to a URL until `release` opens them. */
export async function holdSockets(page: Page, url: RegExp) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.routeWebSocket(url, async (socket) => {
    await released;
    socket.connectToServer();
  });
  return { release };
}

/** Returns the violations of the content security policy on the pages that are opened from now on, in a list that grows. */
export async function noteBreaches(page: Page): Promise<readonly string[]> {
  const breaches: string[] = [];
  await page.exposeFunction('noteBreach', (breach: string) => breaches.push(breach));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (breach) => noteBreach(`${breach.violatedDirective} ${breach.blockedURI} ${location.pathname}`))",
  );
  return breaches;
}

/** Acts as if the user returned to the tab of a page. */
export const returnToTab = (page: Page): Promise<void> =>
  page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");

/** Sizes of windows. */
export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1440, height: 900 };

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
