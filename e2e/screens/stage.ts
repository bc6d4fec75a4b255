// The server, data and users for the screenshots.
import { registrationSchema } from '@creel/contract';
import type { Endpoint } from '@creel/contract';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { exchange } from '../../fixtures/raw-http.ts';
import { webhookFixtures } from '../../fixtures/webhooks/all.ts';
import { toRawHttp } from '../../fixtures/webhooks/webhook-fixture.ts';
import { startApp } from '../app.ts';
import type { App } from '../app.ts';
import { changeEndpoint, createEndpoint, unsaved } from '../endpoints.ts';
import { BINARY, CUT, EMBEDDED, HTML, LONG_PATH, PIXELS, SMALL_CAPTURES } from './captures.ts';
import type { Capture } from './captures.ts';

/** Index of each kind of request in the endpoint that has all of them. */
export type Kind = keyof ReturnType<typeof kinds>;

export interface Stage {
  /** Opens a path as a visitor, a new user, the owner of the captured requests, or a user with long names. */
  readonly open: (
    who: 'visitor' | 'newcomer' | 'owner' | 'longwinded',
    path: string,
    before?: Prepare,
  ) => Promise<Page>;
  /** Every kind of request. */
  readonly main: Endpoint;
  readonly empty: Endpoint;
  /** An endpoint with the longest name, without a space, and a request with a long path. */
  readonly long: Endpoint;
  readonly kind: Readonly<Record<Kind, number>>;
  readonly close: () => Promise<void>;
}

/** Prepares a page before it opens its URL, for example with routes. */
export type Prepare = (page: Page) => Promise<unknown>;

/** Starts the server and creates the data. Takes a few seconds. */
export async function setStage(browser: Browser): Promise<Stage> {
  const app = await startApp({ DEFAULT_TIER: 'PREMIUM' });
  const people = {
    visitor: await contextOf(browser, app),
    newcomer: await personOf(browser, app, 'noor'),
    owner: await personOf(browser, app, 'marta'),
    longwinded: await personOf(browser, app, 'wolfeschlegelsteinhausenbergerdorff'),
  };
  const { owner, longwinded } = people;
  const empty = await createEndpoint(owner, 'Shopify staging');
  await capture(await createEndpoint(owner, 'Order feed', 'Shopify'), SMALL_CAPTURES.slice(0, 3));
  await capture(await createEndpoint(owner, 'نقطة نهاية للمدفوعات'), SMALL_CAPTURES.slice(2, 4));
  await capture(await createEndpoint(owner, ''), SMALL_CAPTURES.slice(4, 6));
  const long = await createEndpoint(
    longwinded,
    `${'Production_payments_🎣_'.repeat(4)}of_every`,
    'Stripe_of_all_shops_'.repeat(5),
  );
  await createEndpoint(longwinded, 'نقطة نهاية '.repeat(9).trim());
  await capture(long, [LONG_PATH]);
  const main = await createEndpoint(owner, 'Stripe billing');
  await changeEndpoint(owner, main, { isFavorite: true });
  const kind = await captureAll(main);
  await saveSome(owner, main);
  return {
    main,
    empty,
    long,
    kind,
    open: async (who, path, before) => {
      const page = await people[who].newPage();
      await before?.(page);
      await page.goto(path);
      return page;
    },
    close: () => app.stop(),
  };
}

const contextOf = (browser: Browser, app: App): Promise<BrowserContext> =>
  browser.newContext({ baseURL: app.url, reducedMotion: 'reduce', locale: 'en-US', timezoneId: 'UTC' });

async function personOf(browser: Browser, app: App, username: string): Promise<BrowserContext> {
  const context = await contextOf(browser, app);
  const data = registrationSchema.parse({ username, email: `${username}@example.com`, password: 'a picture of it' });
  await context.request.post('/api/register', { data });
  return context;
}

async function capture({ url }: Endpoint, captures: readonly Capture[]): Promise<void> {
  for (const { path = '', ...init } of captures) {
    const answer = await fetch(url + path, init);
    if (!answer.ok) throw new Error(`A request for the pictures was answered ${answer.status}.`);
  }
}

/** The webhooks of `fixtures/`, other kinds of body, and enough small requests to fill a list. */
async function captureAll(endpoint: Endpoint): Promise<Stage['kind']> {
  const { hostname, port } = new URL(endpoint.url);
  for (const fixture of webhookFixtures) {
    await exchange({ host: hostname, port: Number(port) }, toRawHttp(fixture, endpoint.url));
  }
  await capture(endpoint, [PIXELS, BINARY, HTML, EMBEDDED, CUT]);
  for (let round = 0; round < 4; round++) await capture(endpoint, SMALL_CAPTURES);
  const stripe = webhookFixtures.find(({ name }) => name === 'stripe-invoice-paid');
  if (stripe) await exchange({ host: hostname, port: Number(port) }, toRawHttp(stripe, endpoint.url));
  return kinds();
}

/** The index of a request is its position in the order of sending. */
function kinds() {
  const index = (name: string): number => webhookFixtures.findIndex((fixture) => fixture.name === name);
  const count = webhookFixtures.length;
  return {
    json: index('stripe-invoice-paid'),
    push: index('github-push'),
    form: index('twilio-sms'),
    multipart: index('multipart-upload'),
    gzip: index('gzip-json'),
    xml: index('xml'),
    big: index('big-json'),
    image: count,
    binary: count + 1,
    html: count + 2,
    embedded: count + 3,
    cut: count + 4,
    query: count + 5,
  };
}

async function saveSome(owner: BrowserContext, { uid }: Endpoint): Promise<void> {
  for (const { index } of (await unsaved(owner, uid)).filter((request) => request.index % 3 === 0)) {
    await owner.request.post(`/api/endpoints/${uid}/save-request`, { data: { index } });
  }
}
