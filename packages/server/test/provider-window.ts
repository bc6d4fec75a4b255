import { z } from 'zod';
import { startTestProvider } from '../../../fixtures/openid-provider.ts';
import type { TestProvider } from '../../../fixtures/openid-provider.ts';
import type { TestClient } from './test-client.ts';
import { startTestServer } from './test-server.ts';

const messageSchema = z.object({
  type: z.literal('creel-sign-in'),
  flow: z.string().optional(),
  identity: z.object({ email: z.string(), displayName: z.string(), uid: z.string() }).optional(),
  problem: z.string().optional(),
  message: z.string().optional(),
});
export type Message = z.infer<typeof messageSchema>;

/** The message of the callback page to the page that opened it. */
export function messageOf(html: unknown): Message {
  const attribute = /data-message="([^"]*)"/.exec(String(html))?.[1] ?? '';
  const text = attribute
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  return messageSchema.parse(JSON.parse(text));
}

/** The cookies of this name, each of one login, as name and value. */
export function flowCookies(browser: TestClient, name: 'creel_attempt' | 'creel_identity'): [string, string][] {
  const pairs = browser.jar.header().split('; ');
  return pairs
    .map((pair) => pair.split('=', 2))
    .flatMap(([key = '', value = '']) => (key.startsWith(`${name}_`) ? [[key, value]] : []));
}

/** Returns from the provider to Creel. Returns the message of the callback page. */
export async function comeBack(browser: TestClient, path: string): Promise<Message> {
  return messageOf((await browser.answerTo(path)).body);
}

/** Goes through the provider's window. Returns the message of its last page. */
export async function prove(provider: TestProvider, browser: TestClient): Promise<NonNullable<Message['identity']>> {
  const { identity, message } = await comeBack(browser, await walk(provider, browser));
  if (identity === undefined) throw new Error(`No identity: ${message}`);
  return identity;
}

/** The last step alone, with any claimed identity. */
export function login(browser: TestClient, identity: object): ReturnType<TestClient['answerTo']> {
  return browser.answerTo('/api/google-login', { method: 'POST', json: identity });
}

/** Goes from Creel's start to the provider's redirect. Returns its path and query at Creel. */
export async function walk(provider: TestProvider, browser: TestClient, query = ''): Promise<string> {
  const start = await browser.send(`/auth/oidc/start${query}`);
  const location = start.headers.get('location');
  if (location === null) throw new Error(`Creel did not send the browser on: ${start.status} ${await start.text()}`);
  return provider.authorize(location);
}

/** A server whose third-party login uses a test provider. */
export async function startWithProvider() {
  const provider = await startTestProvider();
  const server = await startTestServer({
    settings: { ...provider.settings, SIGNUPS_PER_HOUR: '10000', LOG_LEVEL: 'debug' },
  });
  provider.serve(server.origin);
  return {
    provider,
    server,
    async stop(): Promise<void> {
      await server.stop();
      await provider.close();
    },
  };
}

/** A new user at the provider's window, with a correct provider. */
export function seat(provider: TestProvider, nth: number): void {
  provider.person = { sub: `sub-${nth}`, email: `p${nth}@acme.test`, email_verified: true, name: `Person ${nth}` };
  provider.tamper = undefined;
  provider.deny = false;
  provider.allowWithoutPkce = false;
}
