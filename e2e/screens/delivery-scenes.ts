// Forwarding, the history of a request, and signatures.
import { endpointSchema } from '@creel/contract';
import type { DeliveryAttempt, Destination, Endpoint } from '@creel/contract';
import type { Page } from '@playwright/test';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { listenLocally } from '../../fixtures/listen-locally.ts';
import { createDestination, createEndpoint } from '../endpoints.ts';
import { answering, failing, shows, waiting } from './scene.ts';
import type { Scene } from './scene.ts';
import type { Prepare, Stage } from './stage.ts';

const HOOK = 'https://api.shop.example/webhooks/stripe';
const AT = '2026-11-22T08:41:57.113Z';

const ATTEMPT: DeliveryAttempt = {
  id: 3,
  deliveryId: 'dlv_1',
  kind: 'forward',
  destinationId: 1,
  url: HOOK,
  method: 'POST',
  attempt: 1,
  status: 200,
  statusText: 'OK',
  error: null,
  durationMs: 84,
  at: AT,
  nextAttemptAt: null,
  responseHeaders: [
    { key: 'Content-Type', value: 'application/json' },
    { key: 'X-Request-Id', value: 'req_8Yd0sQ1' },
  ],
  responseBody: '{"received":true,"event":"invoice.paid","handled_by":["ledger","mailer"]}',
  responseBodyEncoding: 'utf8',
  responseTruncated: false,
};
const NO_ANSWER = {
  status: null,
  statusText: '',
  error: 'The destination refused the connection. Is something listening on that port?',
  responseHeaders: [],
  responseBody: null,
};
const BROKEN = { status: 503, statusText: 'Service Unavailable', responseBody: '<h1>Deploying</h1>' };

const HISTORY: DeliveryAttempt[] = [
  { ...ATTEMPT, id: 6, ...BROKEN, attempt: 3, nextAttemptAt: new Date(Date.now() + 110_000).toISOString() },
  { ...ATTEMPT, id: 5, ...NO_ANSWER, attempt: 2 },
  { ...ATTEMPT, id: 4, deliveryId: 'dlv_2', kind: 'cli', destinationId: null, url: 'http://localhost:4000/hooks' },
  { ...ATTEMPT, id: 3, deliveryId: 'dlv_3', kind: 'replay', destinationId: null },
];

const DESTINATION: Destination = {
  id: 1,
  url: HOOK,
  appendPath: false,
  enabled: true,
  query: 'event:invoice.* -header.x-test:*',
  sign: true,
  state: { name: 'active' },
  pending: 0,
  recentStatuses: [...Array.from({ length: 18 }, () => 200), 500, 200],
  createdAt: AT,
};
const REASON = '50 attempts in a row failed. The last one: 503 Service Unavailable';
const DESTINATIONS: Destination[] = [
  DESTINATION,
  {
    ...DESTINATION,
    id: 2,
    url: 'https://staging.shop.example/a/rather/long/path/to/the/handler/of/webhooks',
    query: '',
    sign: false,
    appendPath: true,
    state: { name: 'paused', since: AT, reason: REASON },
    pending: 1284,
    recentStatuses: Array.from({ length: 20 }, () => 503),
  },
  { ...DESTINATION, id: 3, url: 'https://old.shop.example/', enabled: false, sign: false, recentStatuses: [] },
];

const DESTINATIONS_PATH = '**/api/endpoints/*/destinations';
const DELIVERIES_PATH = '**/api/endpoints/*/requests/*/deliveries*';

/** Opens the dialog. */
async function forwarding(stage: Stage, prepare: Prepare): Promise<Page> {
  const page = await stage.open('owner', `/endpoints/${stage.main.uid}`, prepare);
  // The name has more words when a paused destination is loaded.
  await page.getByRole('button', { name: /^Forward( \(|$)/ }).click();
  return shows(page, page.getByRole('dialog'));
}

const historyOf = (stage: Stage, prepare: Prepare): Promise<Page> =>
  stage.open('owner', `/endpoints/${stage.main.uid}?request=${stage.kind.json}&tab=deliveries`, prepare);

/** An endpoint of its own, so that other scenes stay as they are. That of the scene before is deleted. */
async function newEndpoint(stage: Stage): Promise<{ readonly page: Page; readonly endpoint: Endpoint }> {
  const page = await stage.open('owner', '/');
  const all = endpointSchema.array().parse(await (await page.request.get('/api/endpoints')).json());
  for (const { uid } of all.filter(({ name }) => name === 'Deliveries'))
    await page.request.delete(`/api/endpoints/${uid}`);
  return { page, endpoint: await createEndpoint(page, 'Deliveries') };
}

const SECRET = 'It is a secret to everybody';
const BODY = '{"action":"opened","number":7}';

/** The endpoint's own health check answers GET with 200 and everything else with an error. */
async function forwarded(stage: Stage): Promise<Page> {
  const { page, endpoint } = await newEndpoint(stage);
  await createDestination(page, endpoint, { url: `${new URL(endpoint.url).origin}/healthz` });
  for (const method of ['GET', 'POST', 'GET', 'GET']) await fetch(`${endpoint.url}/orders/7`, { method });
  await page.goto(`/endpoints/${endpoint.uid}`);
  await shows(page, page.getByRole('row', { name: /200/ }).first());
  return shows(page, page.getByText('↻').first());
}

/** The URL of a destination that never answers. */
async function silentUrl(): Promise<string> {
  const target = createServer(() => undefined).unref();
  return `http://127.0.0.1:${await listenLocally(target)}/hook`;
}

/** One destination accepts the requests, one refuses connections, one never answers, and one is off. */
async function severalDestinations(stage: Stage): Promise<Page> {
  const { page, endpoint } = await newEndpoint(stage);
  const urls = [`${new URL(endpoint.url).origin}/healthz`, 'http://127.0.0.1:9/hook', await silentUrl()];
  for (const url of urls) await createDestination(page, endpoint, { url });
  await createDestination(page, endpoint, { url: 'http://localhost:4000/hooks', enabled: false });
  for (const path of ['/orders/7', '/orders/8']) await fetch(endpoint.url + path);
  await page.goto(`/endpoints/${endpoint.uid}?request=0&tab=deliveries`);
  return shows(page, page.getByRole('list', { name: 'Deliveries, newest first' }).getByRole('listitem').nth(1));
}

async function forwardedToSeveral(stage: Stage): Promise<Page> {
  const page = await severalDestinations(stage);
  // On a narrow page the request covers the button.
  await page.goto(new URL(page.url()).pathname);
  await page.getByRole('button', { name: 'Forward', exact: true }).click();
  return shows(page, 'waiting');
}

async function waitingForDelivery(stage: Stage): Promise<Page> {
  const { page, endpoint } = await newEndpoint(stage);
  await createDestination(page, endpoint, { url: await silentUrl() });
  await fetch(`${endpoint.url}/orders/7`, { method: 'POST', body: BODY });
  await page.goto(`/endpoints/${endpoint.uid}?request=0&tab=deliveries`);
  return shows(page, 'Waiting for the first attempt');
}

interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Nothing is set without one. */
  readonly signing?: Readonly<Record<string, string>>;
}

const hmac = (text: string, key: string | Buffer = SECRET): string =>
  createHmac('sha256', key).update(text).digest('hex');
const JSON_TYPE = { 'content-type': 'application/json' };
const GITHUB = { ...JSON_TYPE, 'X-GitHub-Event': 'issues', 'X-Hub-Signature-256': `sha256=${hmac(BODY)}` };
const stripeHeaders = (body: string, at: number, key = SECRET) => ({
  ...JSON_TYPE,
  'Stripe-Signature': `t=${at},v1=${hmac(`${at}.${body}`, key)}`,
});
const now = (): number => Math.floor(Date.now() / 1000);

/** A request that is checked against the signing secret of its endpoint. */
async function checked(stage: Stage, { headers, body = BODY, signing }: Signed): Promise<Page> {
  const { page, endpoint } = await newEndpoint(stage);
  await fetch(endpoint.url, { method: 'POST', body, headers });
  if (signing !== undefined) await page.request.put(`/api/endpoints/${endpoint.uid}/signing-secret`, { data: signing });
  await page.goto(`/endpoints/${endpoint.uid}?request=0`);
  return page;
}

const signed = (stage: Stage, secret: string): Promise<Page> =>
  checked(stage, { headers: GITHUB, ...(secret !== '' && { signing: { scheme: 'github', secret } }) });

const EVENT = '{"id":"evt_1","livemode":false}';
/** The usual mistakes, by the name of the picture. */
const MISTAKES: Readonly<Record<string, () => Signed>> = {
  old: () => ({
    headers: stripeHeaders(EVENT, now() - 720),
    body: EVENT,
    signing: { scheme: 'stripe', secret: SECRET },
  }),
  mode: () => ({
    headers: stripeHeaders(EVENT, now(), 'another'),
    body: EVENT,
    signing: { scheme: 'stripe', secret: 'whsec_mine' },
  }),
  layout: () => ({
    headers: GITHUB,
    body: JSON.stringify(JSON.parse(BODY), null, 2),
    signing: { scheme: 'github', secret: SECRET },
  }),
  encoding: () => ({
    headers: { ...GITHUB, 'X-Hub-Signature-256': `sha256=${hmac(BODY, Buffer.from('c2VjcmV0', 'base64'))}` },
    signing: { scheme: 'github', secret: 'c2VjcmV0' },
  }),
  scheme: () => ({ headers: GITHUB, signing: { scheme: 'shopify', secret: SECRET } }),
};

const scenes: readonly Scene[] = [
  { name: 'forward-list', play: (stage) => forwarding(stage, answering(DESTINATIONS_PATH, DESTINATIONS)) },
  { name: 'forward-empty', play: (stage) => forwarding(stage, answering(DESTINATIONS_PATH, [])) },
  { name: 'forward-loading', play: (stage) => forwarding(stage, waiting(DESTINATIONS_PATH)) },
  { name: 'forward-failed', play: (stage) => forwarding(stage, failing(DESTINATIONS_PATH)) },
  {
    name: 'forward-full',
    play: (stage) =>
      forwarding(
        stage,
        answering(
          DESTINATIONS_PATH,
          [1, 2, 3, 4, 5].map((id) => ({ ...DESTINATION, id })),
        ),
      ),
  },
  {
    name: 'forward-form',
    play: async (stage) => {
      const page = await forwarding(stage, answering(DESTINATIONS_PATH, []));
      await page.getByRole('button', { name: 'Add destination' }).click();
      await page.getByLabel('URL', { exact: true }).fill('api shop example');
      await page.getByRole('combobox', { name: 'Condition' }).fill('event:');
      await page.getByRole('button', { name: 'Add destination' }).click();
      return shows(page, 'Please enter a valid URL');
    },
  },
  {
    name: 'forward-delete',
    play: async (stage) => {
      const page = await forwarding(stage, answering(DESTINATIONS_PATH, DESTINATIONS));
      await page.getByRole('button', { name: 'Delete destination' }).nth(1).click();
      return shows(page, page.getByRole('alertdialog'));
    },
  },
  {
    name: 'forward-local',
    play: async (stage) => {
      const page = await forwarding(stage, answering(DESTINATIONS_PATH, []));
      await page.getByRole('tab', { name: 'To localhost' }).click();
      return shows(page, 'Log in once');
    },
  },
  { name: 'deliveries-badges', play: forwarded },
  { name: 'deliveries-waiting', play: waitingForDelivery },
];

/** On narrow screens the details cover the list, and a change of the size would close them. */
const scenesPerSize: readonly Scene[] = [
  { name: 'deliveries-several', play: severalDestinations },
  { name: 'deliveries-several-forward', play: forwardedToSeveral },
  {
    name: 'deliveries-history',
    play: async (stage) => shows(await historyOf(stage, answering(DELIVERIES_PATH, HISTORY)), 'Send again'),
  },
  {
    name: 'deliveries-answered',
    play: async (stage) => shows(await historyOf(stage, answering(DELIVERIES_PATH, [ATTEMPT])), '"received"'),
  },
  {
    name: 'deliveries-refused',
    play: async (stage) => {
      const page = await historyOf(stage, answering(DELIVERIES_PATH, HISTORY));
      await page.getByRole('button', { name: 'Send again' }).click();
      return shows(page, page.getByRole('alert').filter({ hasText: 'delivery' }));
    },
  },
  {
    name: 'deliveries-empty',
    play: async (stage) => shows(await historyOf(stage, answering(DELIVERIES_PATH, [])), 'Not sent anywhere'),
  },
  {
    name: 'deliveries-failed',
    play: async (stage) => shows(await historyOf(stage, failing(DELIVERIES_PATH)), 'could not be loaded'),
  },
  {
    name: 'signature-valid',
    play: async (stage) => shows(await signed(stage, SECRET), 'Signature valid'),
  },
  {
    name: 'signature-invalid',
    play: async (stage) => shows(await signed(stage, `${SECRET} `), 'Signature invalid'),
  },
  {
    name: 'signature-missing',
    play: async (stage) =>
      shows(
        await checked(stage, { headers: JSON_TYPE, signing: { scheme: 'github', secret: SECRET } }),
        'No signature',
      ),
  },
  ...Object.entries(MISTAKES).map(([name, mistake]) => ({
    name: `signature-mistake-${name}`,
    play: async (stage: Stage) => shows(await checked(stage, mistake()), /Signature invalid|No signature/),
  })),
  {
    name: 'signature-dialog',
    play: async (stage) => {
      const page = await signed(stage, '');
      await page.getByRole('button', { name: 'Check the signature…' }).click();
      return shows(page, 'Suggested');
    },
  },
  {
    name: 'signature-replace',
    play: async (stage) => {
      const page = await signed(stage, SECRET);
      await page.goto(page.url().replace('?request=0', ''));
      await page.getByRole('button', { name: 'Signing secret' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Scheme').selectOption('hmac-sha256');
      await dialog.getByRole('button', { name: 'Replace' }).click();
      return shows(page, 'Please enter the secret');
    },
  },
  {
    name: 'signature-again',
    play: async (stage) => {
      const page = await signed(stage, SECRET);
      await page.getByRole('button', { name: 'Replay Request' }).click();
      await page.getByRole('textbox', { name: 'Body', exact: true }).fill('{}');
      return shows(page, 'Switch on');
    },
  },
];

export const deliveryScenes = [...scenes, ...scenesPerSize.map((scene) => ({ ...scene, perSize: true }))];
