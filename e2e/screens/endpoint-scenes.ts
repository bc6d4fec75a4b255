// The dashboard, the endpoint page, and every kind of request.
import { endpointSchema } from '@creel/contract';
import type { Page } from '@playwright/test';
import { changing, failing, shows, waiting } from './scene.ts';
import type { Scene } from './scene.ts';
import type { Kind, Prepare, Stage } from './stage.ts';

const DAY_MS = 86_400_000;
const pathOf = ({ main }: Stage, search = ''): string => `/endpoints/${main.uid}${search}`;
const live = (page: Page) => page.getByText('Live', { exact: true });

const dashboard: Scene[] = [
  {
    name: 'home-loading',
    play: async ({ open }) => {
      const page = await open('owner', '/', waiting('**/api/endpoints'));
      return shows(page, page.locator('[data-skeleton]').first());
    },
  },
  {
    name: 'home-error',
    play: async ({ open }) => shows(await open('owner', '/', failing('**/api/endpoints')), 'Error loading endpoints'),
  },
  { name: 'home-empty', play: async ({ open }) => shows(await open('newcomer', '/'), 'No endpoints yet') },
  { name: 'home-cards', play: async ({ open }) => shows(await open('owner', '/'), 'Order feed') },
  {
    name: 'home-create',
    play: async ({ open }) => {
      const page = await shows(await open('newcomer', '/'), 'No endpoints yet');
      await page.keyboard.press('n');
      return shows(page, page.getByRole('dialog', { name: 'Create Endpoint' }));
    },
  },
  {
    name: 'home-create-limit',
    play: async ({ open }) => {
      const page = await open('owner', '/', freePlan);
      await shows(page, 'Order feed');
      await page.keyboard.press('n');
      return shows(page, 'Free users can only create one endpoint.');
    },
  },
];

/** The same user on the Free plan. */
const freePlan = changing('**/api/user', { subscriptionTier: 'FREE' });

const states: Scene[] = [
  {
    name: 'endpoint-loading',
    play: async (stage) =>
      shows(await stage.open('owner', pathOf(stage), waiting('**/api/endpoints/*')), 'Loading endpoint...'),
  },
  {
    name: 'endpoint-not-found',
    play: async ({ open }) => shows(await open('owner', '/endpoints/gone'), 'Endpoint Not Found'),
  },
  {
    name: 'endpoint-failed',
    play: async (stage) =>
      shows(await stage.open('owner', pathOf(stage), failing('**/api/endpoints/*')), 'could not be loaded'),
  },
  {
    name: 'endpoint-empty',
    play: async ({ open, empty }) => shows(await open('owner', `/endpoints/${empty.uid}`), 'No requests received yet.'),
  },
  {
    name: 'endpoint',
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage));
      return shows(page, live(page));
    },
  },
  {
    name: 'endpoint-long',
    play: async ({ open, long }) => shows(await open('longwinded', `/endpoints/${long.uid}?request=0`), '/h/…'),
  },
  { name: 'home-long', play: async ({ open }) => shows(await open('longwinded', '/'), 'Production_payments') },
  {
    name: 'endpoint-expired',
    play: async (stage) => shows(await stage.open('owner', pathOf(stage), expired), 'Expired on'),
  },
  {
    name: 'endpoint-disconnected',
    play: async (stage) =>
      shows(await stage.open('owner', pathOf(stage), disconnected), 'Not connected to real-time updates.'),
  },
  {
    name: 'endpoint-list-failed',
    play: async (stage) =>
      shows(
        await stage.open('owner', pathOf(stage), async (page) => {
          await disconnected(page);
          await failing('**/requests?*')(page);
        }),
        'Not connected',
      ),
  },
  {
    name: 'endpoint-filtered',
    play: async (stage) =>
      shows(await stage.open('owner', pathOf(stage, '?find=method%3APOST%20methd%3APOST%20OR%20invoice')), 'in'),
  },
  {
    name: 'endpoint-filter-suggestions',
    perSize: true,
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage));
      await shows(page, live(page));
      await page.getByRole('combobox', { name: 'Filter the list' }).pressSequentially('event:');
      await page.keyboard.press('ArrowDown');
      return shows(page, page.getByRole('option').first());
    },
  },
  {
    name: 'endpoint-filter-mistake',
    perSize: true,
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage, '?find=stripe'));
      await shows(page, live(page));
      await page.getByRole('combobox', { name: 'Filter the list' }).fill('method:POST size:many "open');
      return shows(page, 'Expected a size');
    },
  },
  {
    name: 'endpoint-filtered-empty',
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage, '?find=nowhere'));
      return shows(page, 'No request matches');
    },
  },
];

const expired: Prepare = (page) =>
  page.route(/\/api\/endpoints(\/[\w-]+)?$/, async (route) => {
    const answer = await route.fetch();
    const found: unknown = await answer.json();
    const change = (one: unknown) => ({
      ...endpointSchema.loose().parse(one),
      isFavorite: 'false',
      expiresAt: new Date(Date.now() - DAY_MS).toISOString(),
    });
    await route.fulfill({ json: Array.isArray(found) ? found.map(change) : change(found) });
  });

const disconnected: Prepare = (page) => page.routeWebSocket(/\/ws\?/, (socket) => void socket.close({ code: 1001 }));

const actions: Scene[] = [
  ...[
    ['delete', 'Delete'],
    ['clear', 'Clear Data'],
  ].map(([name, button]) => ({
    name: `endpoint-${name}`,
    play: async (stage: Stage) => {
      const page = await stage.open('owner', pathOf(stage));
      await page
        .getByRole('button', { name: button ?? '', exact: true })
        .first()
        .click();
      return shows(page, page.getByRole('alertdialog'));
    },
  })),
  {
    name: 'endpoint-forward',
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage));
      await page.getByRole('button', { name: 'Forward', exact: true }).click();
      await page.getByRole('tab', { name: 'To localhost' }).click();
      return shows(page, page.getByRole('dialog', { name: 'Forward' }));
    },
  },
  {
    name: 'endpoint-collapsed',
    perSize: true,
    // Another user than in the other scenes, because the browser remembers the choice.
    play: async ({ open, long }) => {
      const page = await open('longwinded', `/endpoints/${long.uid}`);
      await shows(page, live(page));
      const hide = page.getByRole('button', { name: 'Hide endpoint details' });
      if (await hide.isVisible()) await hide.click();
      return page;
    },
  },
  {
    name: 'endpoint-edit',
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage));
      await page.getByRole('button', { name: 'Edit name and source' }).click();
      return shows(page, page.getByRole('dialog'));
    },
  },
  {
    name: 'endpoint-marked',
    perSize: true,
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage));
      await shows(page, live(page));
      for (const nth of [0, 1, 3])
        await page.getByRole('checkbox', { name: 'Select request' }).nth(nth).check({ force: true });
      return shows(page, '3 selected');
    },
  },
  {
    name: 'endpoint-exporting',
    perSize: true,
    play: async (stage) => {
      // Large requests are read one by one.
      const page = await stage.open('owner', pathOf(stage), waiting(/\/api\/endpoints\/[\w-]+\/requests\/-?\d+$/));
      await shows(page, live(page));
      await page.getByRole('checkbox', { name: 'Select all that match' }).click();
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('menuitem', { name: 'HAR' }).click();
      return shows(page, /^Exporting \d+ of \d+$/);
    },
  },
  {
    name: 'endpoint-bulk-replay',
    play: async (stage) => {
      const page = await bulkReplay(stage);
      await page.getByRole('button', { name: 'Send' }).click();
      return shows(page, page.getByRole('dialog').getByRole('button', { name: 'Close' }).last());
    },
  },
  {
    name: 'endpoint-bulk-replay-running',
    play: async (stage) => {
      const page = await bulkReplay(stage);
      await page.getByLabel('Pace').selectOption({ index: 2 });
      await page.getByRole('button', { name: 'Send' }).click();
      return shows(page, page.getByRole('dialog').getByRole('button', { name: 'Stop' }));
    },
  },
  {
    name: 'endpoint-toast',
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage));
      await page.getByRole('switch', { name: 'Autosave' }).click();
      await page
        .getByRole('region', { name: /Notifications/ })
        .getByRole('listitem')
        .waitFor();
      // Focus keeps the toasts open.
      await page.keyboard.press('F8');
      return page;
    },
  },
  {
    name: 'compare-choose',
    perSize: true,
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage, `?request=${stage.kind.push}&compare=${stage.kind.json}`));
      await page.getByRole('button', { name: 'Change the left request' }).click();
      return shows(page, page.getByRole('dialog').getByRole('listitem').first());
    },
  },
  {
    name: 'compare',
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage, `?request=${stage.kind.push}&compare=${stage.kind.json}`));
      return shows(page, page.getByRole('region', { name: 'Differences' }).getByText('Body'));
    },
  },
];

/** A scene of a captured request in a tab, or in a view of the raw tab. */
const details = (name: string, kind: Kind, tab?: string, view?: string): Scene => ({
  name: `request-${name}`,
  perSize: view !== undefined,
  play: async (stage) => {
    const index = stage.kind[kind];
    const page = await stage.open('owner', pathOf(stage, `?request=${index}${tab ? `&tab=${tab}` : ''}`));
    const region = page.getByRole('region', { name: `Request ${index}`, exact: true });
    await region.getByRole('tab', { name: 'Raw' }).waitFor();
    if (view) await region.getByRole('tab', { name: view }).click();
    await region.getByRole('status').waitFor({ state: 'detached' });
    return page;
  },
});

const requests: Scene[] = [
  details('json', 'json'),
  details('embedded', 'embedded'),
  details('cut-json', 'cut'),
  details('query-headers', 'query'),
  details('headers', 'push', 'headers'),
  details('query', 'query', 'query'),
  details('raw', 'json', 'raw'),
  details('message', 'json', 'raw', 'Message'),
  details('hex', 'binary'),
  details('form', 'form'),
  details('multipart', 'multipart'),
  details('xml', 'xml'),
  details('html', 'html'),
  details('image', 'image'),
  details('gzip', 'gzip'),
  details('big-json', 'big'),
  {
    name: 'request-gone',
    play: async (stage) => shows(await stage.open('owner', pathOf(stage, '?request=7777')), 'is not stored any more'),
  },
  {
    name: 'request-menu',
    perSize: true,
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage, `?request=${stage.kind.json}`));
      await page.getByRole('button', { name: 'More actions' }).first().click();
      return shows(page, page.getByRole('menuitem').first());
    },
  },
  {
    name: 'request-search-inside',
    perSize: true,
    play: async (stage) => {
      const page = await stage.open('owner', pathOf(stage, `?request=${stage.kind.json}`));
      await page.getByRole('tree', { name: 'Body as JSON' }).waitFor();
      await page.keyboard.press('f');
      await page.getByRole('textbox', { name: 'Search inside' }).fill('invoice');
      return shows(page, page.locator('mark').first());
    },
  },
];

/** The dialog that replays all requests, ready to send. */
async function bulkReplay(stage: Stage): Promise<Page> {
  const page = await stage.open('owner', pathOf(stage));
  await shows(page, live(page));
  await page.getByRole('checkbox', { name: 'Select all that match' }).click();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByLabel('Destination').fill('http://127.0.0.1:9');
  return page;
}

export const endpointScenes: readonly Scene[] = [...dashboard, ...states, ...actions, ...requests];
