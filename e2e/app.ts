// Fixtures of the browser tests: a built server in its own process with an empty data folder, and logged-in users.
import { test as base, expect } from '@playwright/test';
import type { BrowserContext, Locator, Page, Route } from '@playwright/test';
import { registrationSchema, userSchema } from '@creel/contract';
import type { Endpoint, Tier, User } from '@creel/contract';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCache } from '../fixtures/server-program.ts';
import { createEndpoint } from './endpoints.ts';
import { subscribe } from './plans.ts';
import { freePort } from '../fixtures/free-port.ts';
import { answersAt, startProgram } from '../fixtures/start-program.ts';

const root = join(import.meta.dirname, '..');
const stopWithinMs = 12_000;

/** A running server. */
export type App = Awaited<ReturnType<typeof startApp>>;

/** A user who is logged in in a browser context. */
export interface Person {
  readonly user: User;
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

/**
 * Starts a server on a free loopback port with its own data folder.
 * @param settings environment variables. The server inherits only PATH and the compile cache.
 */
export async function startApp(settings: Record<string, string> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'creel-e2e-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const removeData = () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  const env = { PATH: process.env['PATH'] ?? '', ...compileCache, ...defaults(port, dataDir), ...settings };
  const options = { env, cwd: dataDir, isReady: answersAt(`${url}/readyz`) };
  const program = join(root, 'packages', 'server', 'dist', 'main.js');
  const server = await startProgram(process.execPath, [program], options).catch(async (error: unknown) => {
    await removeData();
    throw error;
  });
  return {
    /** Its origin, without a trailing slash. */
    url,
    dataDir,
    /** Everything that it has written to standard output and standard error. */
    output: server.output,
    /** Stops the server with SIGTERM and removes its data. @throws Error if it does not exit with 0 in time */
    async stop(): Promise<void> {
      const code = await server.kill('SIGTERM', stopWithinMs);
      await removeData();
      if (code !== 0) throw new Error(`Creel ended with ${code} instead of 0. Its output:\n${server.output()}`);
    },
  };
}

const defaults = (port: number, dataDir: string) => ({
  PORT: String(port),
  HOST: '127.0.0.1',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'warn',
  SIGNUPS_PER_HOUR: '1000000',
});

/** Settings for tests that need other ones than most, together, so that these share a server. */
export const OWN_SETTINGS = {
  BILLING: 'off',
  DEFAULT_TIER: 'PREMIUM',
  MAX_UNSAVED_PER_ENDPOINT: '5',
  MAX_SAVED_PER_ENDPOINT: '8',
};

/** Creates an account through the API. The context gets the session cookie, so its pages are logged in. */
export async function register({ request }: Pick<BrowserContext, 'request'>): Promise<Person> {
  const username = `user-${randomBytes(6).toString('hex')}`;
  const person = { username, email: `${username}@example.com`, password: randomBytes(9).toString('base64url') };
  const answer = await request.post('/api/register', { data: registrationSchema.parse(person) });
  expect(answer.status(), await answer.text()).toBe(201);
  return { ...person, user: userSchema.parse(await answer.json()) };
}

/**
 * Playwright's `test` with a server: `app` (one per worker, shared by its tests), `person` (a user for this test, logged in in `page`) and
 * `endpoint` (one of the user's). `page.goto('/…')` is relative to the server. A test fails if its page has an uncaught error.
 * `tier` is the user's plan. Different `appSettings` take another server and another browser, so few files set them.
 */
export const test = base.extend<
  { tier: Tier; person: Person; endpoint: Endpoint; calmPage: undefined },
  { appSettings: Record<string, string>; app: App }
>({
  appSettings: [{}, { scope: 'worker', option: true }],
  app: [
    async ({ appSettings }, use) => {
      const app = await startApp(appSettings);
      await use(app);
      await app.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  baseURL: async ({ app }, use) => {
    await use(app.url);
  },
  tier: ['FREE', { option: true }],
  person: async ({ context, tier }, use) => {
    const person = await register(context);
    await use(tier === 'FREE' ? person : { ...person, user: await subscribe(context, tier) });
  },
  endpoint: async ({ context, person: _ }, use) => {
    await use(await createEndpoint(context));
  },
  calmPage: [
    async ({ context }, use) => {
      const errors: string[] = [];
      context.on('weberror', (thrown) => errors.push(thrown.error().stack ?? String(thrown.error())));
      await use(undefined);
      expect(errors, 'uncaught errors in the page').toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** The part of the page with the toast. */
export const notifications = (page: Page): Locator => page.getByRole('region', { name: /Notifications/ });

/** A text in the visible toast. */
export const toast = (page: Page, text: string): Locator => notifications(page).getByText(text, { exact: true });

/** Waits until what has changed is on the screen: the frame that is being drawn may not have it yet. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');
}

/**
 * Presses Escape two frames later. Radix listens for the key only two renderings after a dialog becomes visible, and a test is faster
 * than any user.
 */
export async function pressEscape(page: Page): Promise<void> {
  await drawn(page);
  await page.keyboard.press('Escape');
}

/**
 * Ends the session as another browser does, and acts. The page's own reads wait meanwhile, because one of them could be the first
 * whose response shows it, and the login dialog then covers the button.
 */
export async function actLoggedOut(page: Page, act: () => Promise<void>): Promise<void> {
  const acted = Promise.withResolvers<void>();
  const hold = async (route: Route): Promise<void> => {
    if (route.request().method() === 'GET') await acted.promise;
    await route.fallback();
  };
  await page.route('**/api/**', hold);
  await page.context().clearCookies();
  await act();
  acted.resolve();
  await page.unroute('**/api/**', hold);
}
