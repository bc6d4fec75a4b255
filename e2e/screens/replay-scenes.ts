// The replay panel below a request: closed, open, edited, and with a response.
import type { ReplayAnswer } from '@creel/contract';
import type { Page } from '@playwright/test';
import { problem } from '../pages.ts';
import { answering, shows, waiting } from './scene.ts';
import type { Scene } from './scene.ts';
import type { Kind, Prepare, Stage } from './stage.ts';

const HOOK = 'http://localhost:4000/hooks/billing';

const ANSWER: ReplayAnswer = {
  status: 200,
  statusText: 'OK',
  headers: [
    { key: 'Content-Type', value: 'application/json; charset=utf-8' },
    { key: 'X-Request-Id', value: 'req_8Yd0sQ1' },
    { key: 'Set-Cookie', value: 'a=1' },
    { key: 'Set-Cookie', value: 'b=2' },
  ],
  body: '{"received":true,"event":"invoice.paid","attempt":1,"handled_by":["ledger","mailer"],"took_ms":12.40}',
  bodyEncoding: 'utf8',
  bodyTruncated: false,
  durationMs: 34.2,
};

const replaying = (answer: Partial<ReplayAnswer>): Prepare => answering('**/api/replay', { ...ANSWER, ...answer });

const REFUSED = 'The destination refused the connection. Is something listening on that port?';
const refusing = answering('**/api/replay', problem(REFUSED, 'REPLAY_FAILED'), 502);

/** Opens a request, and its replay panel with `r`. */
async function opened(stage: Stage, kind: Kind, prepare?: Prepare): Promise<Page> {
  const page = await stage.open('owner', `/endpoints/${stage.main.uid}?request=${stage.kind[kind]}`, prepare);
  await page.getByRole('button', { name: 'Replay Request' }).waitFor();
  await page.keyboard.press('r');
  return shows(page, page.getByLabel('Destination URL'));
}

async function sent(stage: Stage, prepare: Prepare, url = HOOK): Promise<Page> {
  const page = await opened(stage, 'json', prepare);
  await page.getByLabel('Destination URL').fill(url);
  await page.keyboard.press('ControlOrMeta+Enter');
  return page;
}

const response = (page: Page) => page.getByRole('region', { name: 'Response' });

const scenes: readonly Scene[] = [
  {
    name: 'replay-closed',
    play: async (stage) => {
      const page = await stage.open('owner', `/endpoints/${stage.main.uid}?request=${stage.kind.json}`);
      return shows(page, page.getByRole('button', { name: 'Replay Request' }));
    },
  },
  { name: 'replay-open', play: (stage) => opened(stage, 'json') },
  { name: 'replay-binary', play: (stage) => opened(stage, 'binary') },
  {
    name: 'replay-headers',
    play: async (stage) => {
      const page = await opened(stage, 'push');
      await page.getByRole('button', { name: /^Show all/ }).click();
      return shows(page, page.getByLabel('Name of header 6'));
    },
  },
  {
    name: 'replay-edited',
    play: async (stage) => {
      const page = await opened(stage, 'json');
      await page.getByLabel('Destination URL').fill('nowhere');
      await page.getByRole('textbox', { name: 'Body' }).fill('{\n  "id": "evt_changed"\n}');
      await page.getByRole('button', { name: 'Send Request' }).click();
      return shows(page, 'Please enter a valid URL');
    },
  },
  {
    name: 'replay-dialog',
    play: async (stage) => {
      const page = await opened(stage, 'json');
      await page.getByRole('button', { name: 'Expand the editor' }).click();
      return shows(page, page.getByRole('dialog', { name: 'Edit Request Body' }));
    },
  },
  {
    name: 'replay-sending',
    play: async (stage) => {
      const page = await sent(stage, waiting('**/api/replay'));
      return shows(page, 'Waiting for the destination…');
    },
  },
  {
    name: 'replay-answered',
    play: async (stage) => {
      const page = await sent(stage, replaying({}));
      return shows(page, response(page).getByText('"received"'));
    },
  },
  {
    name: 'replay-answer-headers',
    play: async (stage) => {
      const page = await sent(stage, replaying({ status: 500, statusText: 'Internal Server Error' }));
      await response(page).getByRole('tab', { name: 'Headers' }).click();
      return shows(page, response(page).getByText('req_8Yd0sQ1'));
    },
  },
  {
    name: 'replay-redirect',
    play: async (stage) => {
      const headers = [{ key: 'Location', value: '/hooks/v2/billing' }];
      const page = await sent(stage, replaying({ status: 302, statusText: 'Found', headers, body: null }));
      return shows(page, 'Redirects are not followed.');
    },
  },
  {
    name: 'replay-refused',
    play: async (stage) => shows(await sent(stage, refusing), REFUSED),
  },
];

export const replayScenes = scenes.map((scene) => ({ ...scene, perSize: true }));
