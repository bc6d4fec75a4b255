// Every screen: no serious axe findings, no violations of the content security policy, no overflow. The first load stays within its budget.
import type { Page, Response } from '@playwright/test';
import { actLoggedOut, expect, pressEscape, test } from './app.ts';
import { expectNoFindings } from './axe.ts';
import { createEndpoint, detailsOf, goTo, row, rows, sendJson } from './endpoints.ts';
import { answerWith, DESKTOP, expectFits, noteBreaches, PHONE, problem, WIDTHS } from './pages.ts';

test.use({ tier: 'BASIC' });

/** The violations of the content security policy that the browser reported, on every screen that a test of this file opens. */
let breaches: readonly string[] = [];
test.beforeEach(async ({ page }) => {
  breaches = await noteBreaches(page);
});
test.afterEach(() => expect(breaches, 'violations of the content security policy').toEqual([]));

const SCREENS = [
  '/',
  '/profile',
  '/profile?tab=security',
  '/profile?tab=subscription',
  '/settings',
  '/subscription',
  '/search?q=push',
  '/nothing-here',
];
const LONG_NAMES = ['W'.repeat(100), 'نقطة نهاية '.repeat(9).trim(), '🎣🧺👩‍👩‍👧‍👦 '.repeat(7).trim()];

async function withEndpoints(page: Page): Promise<string> {
  let uid = '';
  for (const name of LONG_NAMES) {
    const created = await createEndpoint(page, name);
    uid = created.uid;
    await sendJson(created.url, { ref: 'refs/heads/main' }, `/push${'/long'.repeat(400)}`);
  }
  return uid;
}

const PUBLIC = ['/auth', '/auth?tab=register', '/auth/reset?token=x', '/auth/verify?token=x'];

/** Opens screens one after the other, all but the first within the app. */
async function* openEach(page: Page, paths: readonly string[]): AsyncGenerator<string> {
  for (const [nth, path] of paths.entries()) {
    if (nth === 0) await page.goto(path);
    else {
      const shown = page.locator('#main > :first-child, #main [role="tabpanel"]').filter({ visible: true });
      const before = await shown.last().elementHandle();
      await goTo(page, path);
      await before?.waitForElementState('hidden');
    }
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    yield path;
  }
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

test.describe('axe, light and dark,', () => {
  test('has no serious finding on any screen', async ({ page, person: _ }) => {
    const uid = await withEndpoints(page);
    for await (const path of openEach(page, [...SCREENS, `/endpoints/${uid}`])) {
      // Without the tab, everything but the panel was checked.
      await expectNoFindings(page, path, path.includes('?tab=') ? '[role="tabpanel"]' : undefined);
    }
  });

  test('has no serious finding in any view of a request', async ({ page, person: _ }) => {
    const uid = await withEndpoints(page);
    const { url }: { url: string } = await (await page.request.get(`/api/endpoints/${uid}`)).json();
    await page.request.get(`${url}/callback?code=1&scope=a&scope=b`);
    await page.request.post(url, { data: Buffer.from([0, 255, 1, 254]) });
    const values = { Message: '{"order":{"id":7}}', created: 1_795_242_117, data: 'YSBsaW5lIG9mIHBsYWluIHRleHQ=' };
    await page.request.post(`${url}/caf%C3%A9/a-path-that-is-long-enough-to-expand`, { data: values });
    await page.request.post(url, { data: Buffer.from('{"cut":'), headers: { 'content-type': 'application/json' } });
    await open(page, `/endpoints/${uid}?request=0&tab=headers`);
    await expect(rows(page)).toHaveCount(5);
    await expectNoFindings(page, 'headers');
    for (const [index, key, name] of [
      [1, '3', 'Query Params'],
      [2, '4', 'Raw'],
    ] as const) {
      await row(page, index).click();
      const details = detailsOf(page, index);
      await expect(details).toBeVisible();
      await page.keyboard.press(key);
      await expect(details.getByRole('tab', { name, selected: true })).toBeVisible();
      await expectNoFindings(page, name, `[aria-label="Request ${index}"]`);
    }

    await test.step('opened values, a whole URL, broken JSON and the forward dialog', async () => {
      await row(page, 3).click();
      await expect(detailsOf(page, 3)).toBeVisible();
      await page.keyboard.press('1');
      const closed = page.locator('[aria-expanded="false"] [data-do="open"][aria-hidden]');
      await expect(closed).toHaveCount(3);
      for (let left = 3; left > 0; left--) await closed.first().click();
      await expect(page.getByRole('tree', { name: 'Embedded JSON' })).toBeVisible();
      await page.getByRole('button', { name: 'Show the whole URL' }).click();
      await expectNoFindings(page, 'opened values', '[aria-label="Request 3"]');
      await row(page, 4).click();
      await expect(page.getByText('The text ends before the JSON is complete.')).toBeVisible();
      await expectNoFindings(page, 'broken JSON', '[aria-label="Request 4"]');
      await page.getByRole('button', { name: 'Forward', exact: true }).click();
      await page.getByRole('tab', { name: 'To localhost' }).click();
      await expect(page.getByRole('dialog', { name: 'Forward' })).toContainText(`${url} http://localhost:3000`);
      await expectNoFindings(page, 'forward', '[role="dialog"]');
    });

    await open(page, `/endpoints/${uid}?request=9`);
    await expect(page.getByText('This request is not stored any more')).toBeVisible();
    await expectNoFindings(page, 'a request that is not stored', 'main');
    await open(page, `/endpoints/${uid}?request=0&compare=1`);
    await expect(page.getByRole('region', { name: 'Differences' }).getByText('Body')).toBeVisible();
    await expectNoFindings(page, 'compare', 'main');
  });

  test('has no serious finding in any dialog', async ({ page, person: _ }) => {
    const uid = await withEndpoints(page);
    await open(page, '/');
    for (const key of ['?', 'ControlOrMeta+k', 'n']) {
      await pressEscape(page);
      await expect(page.getByRole('dialog')).toBeHidden();
      await page.keyboard.press(key);
      await expect(page.getByRole('dialog')).toBeVisible();
      await expectNoFindings(page, key, '[role="dialog"]');
    }

    await test.step('a rejected dialog', async () => {
      const rejection = problem('Too long', 'VALIDATION_FAILED', { name: 'Too long' });
      await answerWith(page, '**/api/endpoints', 400, rejection, 'POST');
      await page.getByRole('dialog').getByRole('button', { name: 'Create Endpoint' }).click();
      await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible();
      await expectNoFindings(page, 'refused', '[role="dialog"]');
    });

    await open(page, `/endpoints/${uid}`);
    await test.step('the confirmations of an endpoint and the menu', async () => {
      for (const button of ['Clear Data', 'Delete']) {
        await page.getByRole('button', { name: button, exact: true }).first().click();
        await expect(page.getByRole('alertdialog')).toBeVisible();
        await expectNoFindings(page, button, '[role="alertdialog"]');
        await pressEscape(page);
      }
      await page.setViewportSize(PHONE);
      await page.getByRole('button', { name: 'Open menu' }).click();
      await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible();
      await expectNoFindings(page, 'menu', '[role="dialog"]');
      await pressEscape(page);
      await expect(page.getByRole('dialog', { name: 'Menu' })).toBeHidden();
      await page.setViewportSize(DESKTOP);
    });

    await test.step('after logging out', async () => {
      await actLoggedOut(page, () => page.getByRole('switch', { name: 'Autosave' }).click());
      const told = page.getByRole('dialog', { name: 'You have been logged out' });
      await expect(told).toBeVisible();
      await expectNoFindings(page, 'asked to sign in', '[role="dialog"]');
      await pressEscape(page);
      await pressEscape(page);
      await expect(told).toBeHidden();
      await expect(page.getByText('Authentication Required')).toBeVisible();
      await expectNoFindings(page, 'signed out');
      await page.setViewportSize(PHONE);
      await expectNoFindings(page, 'narrow', 'main');
    });
  });

  test('has no serious finding before the login', async ({ page }) => {
    for await (const path of openEach(page, PUBLIC)) {
      await expectNoFindings(page, path);
    }
  });
});

test('the content security policy allows scripts and styles only by nonce', async ({ request }) => {
  const policy = (await request.get('/')).headers()['content-security-policy'] ?? '';
  expect(policy).toMatch(/script-src 'nonce-[\w-]{22}' 'strict-dynamic';/);
  expect(policy).not.toContain('unsafe');
});

test('names of 100 characters, right-to-left names, emoji and long words of a query do not overflow', async ({
  page,
  person: _,
}) => {
  const uid = await withEndpoints(page);
  const word = 'w'.repeat(400);
  const [mistake, unknown] = [`/search?q=%22${word}`, `/search?q=${word}%3Ax`];
  for await (const path of openEach(page, [mistake, '/', unknown, `/endpoints/${uid}`, '/search?q=push'])) {
    await expectFits(page, path);
    if (path !== '/search?q=push') continue;
    for (const width of [...WIDTHS, 768]) {
      await page.setViewportSize({ width, height: 844 });
      const found = await page.getByRole('main').getByText('/push/').first().boundingBox();
      expect.soft(found?.width, `path of a search result at ${width}`).toBeGreaterThan(70);
    }
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    await page.keyboard.press('ControlOrMeta+k');
    await expect(page.getByRole('dialog').getByRole('option', { name: 'W'.repeat(100) })).toBeAttached();
    const box = await page.getByRole('dialog').boundingBox();
    expect.soft(box?.x, `palette at ${width}`).toBeGreaterThan(0);
    expect.soft((box?.x ?? 0) + (box?.width ?? 0), `palette at ${width}`).toBeLessThan(width);
    await pressEscape(page);
    await expect(page.getByRole('dialog')).toBeHidden();
  }
});

test('the first load stays under 250 KB of compressed JavaScript, the same in every content coding', async ({
  app,
  page,
  person: _,
}) => {
  const scripts: Response[] = [];
  page.on('response', (answer) => {
    if (new URL(answer.url()).pathname.endsWith('.js')) scripts.push(answer);
  });
  await page.goto('/', { waitUntil: 'load' });
  await expect(page.getByText('No endpoints yet')).toBeVisible();
  const sizes = await Promise.all(
    scripts.map(async (answer) => ({
      path: new URL(answer.url()).pathname,
      coding: answer.headers()['content-encoding'],
      kilobytes: (await answer.request().sizes()).responseBodySize / 1000,
    })),
  );
  const total = sizes.reduce((sum, { kilobytes }) => sum + kilobytes, 0);
  expect(sizes.length).toBeGreaterThan(0);
  expect(total, JSON.stringify(sizes, null, 2)).toBeLessThan(250);
  expect(sizes.filter(({ kilobytes, coding }) => kilobytes > 1 && coding !== 'br')).toEqual([]);

  const path = sizes.find((each) => /\/assets\/index-.*\.js$/.test(each.path))?.path ?? '';
  const plain = await (await fetch(app.url + path, { headers: { 'accept-encoding': 'identity' } })).text();
  expect(plain.length).toBeGreaterThan(10_000);
  for (const coding of ['br', 'gzip']) {
    const answer = await fetch(app.url + path, { headers: { 'accept-encoding': coding } });
    expect(answer.headers.get('content-encoding')).toBe(coding);
    expect(answer.headers.get('vary')).toContain('accept-encoding');
    expect(answer.headers.get('content-type')).toMatch(/javascript; charset=utf-8/);
    expect(await answer.text()).toBe(plain);
  }
});
