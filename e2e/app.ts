// Fixtures of the browser tests: a built server in its own process with an empty data folder, and logged-in users.
import { test as base, expect } from '@playwright/test';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { registrationSchema, userSchema } from '@creel/contract';
import type { Endpoint, Tier, User } from '@creel/contract';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileCache } from '../fixtures/compile-cache.ts';
import { createEndpoint } from './endpoints.ts';
import { subscribe } from './plans.ts';
import { freePort } from '../fixtures/free-port.ts';

const root = join(import.meta.dirname, '..');
const readyWithinMs = 20_000;
const stopWithinMs = 12_000;

/** A running server. */
export interface App {
  /** Its origin, without a trailing slash. */
  readonly url: string;
  readonly dataDir: string;
  /** Everything that it has written to standard output and standard error. */
  readonly output: () => string;
  /** Stops the server with SIGTERM and removes its data. @throws Error if it does not exit with 0 in time */
  readonly stop: () => Promise<void>;
}

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
export async function startApp(settings: Record<string, string> = {}): Promise<App> {
  const dataDir = await mkdtemp(join(tmpdir(), 'creel-e2e-'));
  const port = await freePort();
  const server = spawn(process.execPath, [join(root, 'packages', 'server', 'dist', 'main.js')], {
    cwd: dataDir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      ...compileCache,
      ...defaults(port, dataDir),
      ...settings,
    },
  });
  let text = '';
  server.stdout.on('data', (chunk) => (text += String(chunk)));
  server.stderr.on('data', (chunk) => (text += String(chunk)));
  const app: App = {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    output: () => text,
    stop: async () => {
      const code = await ended(server);
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
      if (code !== 0) {
        throw new Error(`Creel ended with ${code} instead of 0. Its output:\n${text}`);
      }
    },
  };
  await ready(app, server).catch(async (error: unknown) => {
    server.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  });
  return app;
}

const defaults = (port: number, dataDir: string) => ({
  PORT: String(port),
  HOST: '127.0.0.1',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'warn',
  SIGNUPS_PER_HOUR: '1000000',
});

async function ready(app: App, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadline) {
    const answer = await fetch(`${app.url}/readyz`).catch(() => undefined);
    if (answer?.ok) {
      return;
    }
    await sleep(30);
  }
  throw new Error(`Creel did not become ready. Its output:\n${app.output()}`);
}

/** Stops the server. Resolves with its exit code or signal. */
async function ended(server: ChildProcess): Promise<number | string | null> {
  if (server.exitCode !== null || server.signalCode !== null) {
    return server.exitCode ?? server.signalCode;
  }
  const end = new Promise<number | string | null>((resolve) => {
    server.once('exit', (code, signal) => resolve(code ?? signal));
  });
  server.kill('SIGTERM');
  const deadline = setTimeout(() => server.kill('SIGKILL'), stopWithinMs);
  const code = await end;
  clearTimeout(deadline);
  return code;
}

/** Creates an account through the API. The context gets the session cookie, so its pages are logged in. */
export async function register(context: BrowserContext, app: App): Promise<Person> {
  const username = `user-${randomBytes(6).toString('hex')}`;
  const person = { username, email: `${username}@example.com`, password: randomBytes(9).toString('base64url') };
  const answer = await context.request.post(`${app.url}/api/register`, { data: registrationSchema.parse(person) });
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
  person: async ({ context, app, tier }, use) => {
    const person = await register(context, app);
    await use(tier === 'FREE' ? person : { ...person, user: await subscribe(context, tier) });
  },
  endpoint: async ({ context, app, person }, use) => {
    expect(person.username).toBeTruthy();
    await use(await createEndpoint(context, app));
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

/** A text in the visible toast. */
export const toast = (page: Page, text: string): Locator =>
  page.getByRole('region', { name: /Notifications/ }).getByText(text, { exact: true });

/**
 * Presses Escape two frames later. Radix listens for the key only two renderings after a dialog becomes visible, and a test is faster
 * than any user.
 */
export async function pressEscape(page: Page): Promise<void> {
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))');
  await page.keyboard.press('Escape');
}
