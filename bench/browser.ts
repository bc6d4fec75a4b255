import { chromium } from '@playwright/test';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { findChromium, launchOptions } from '../scripts/chromium.ts';
import { startPostgres } from '../scripts/postgres.ts';
import { median, quantile } from './quantile.ts';
import { Programs, captureJson, startCreel, startNatsWithLog } from './server-under-test.ts';
import type { MeasuredCreel } from './server-under-test.ts';

const ROWS = 10_040;
const CAPTURES = 200;
const LOADS = 5;
const TICK_MS = 10;
const FLOOD = { perSecond: 2000, seconds: 10 };

const IN_PAGE = stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'in-page.ts'), 'utf8'));

const timesSchema = z.record(z.string(), z.number());
const scrollSchema = z.object({ rows: z.number(), frames: z.number(), seconds: z.number(), slowFrameMs: z.number() });

interface Figure {
  readonly what: string;
  readonly value: string;
}

/** Measures what a user of a real browser notices. */
export async function browserFigures(): Promise<Figure[]> {
  await using browser = await chromium.launch(launchOptions(await findChromium()));
  return [
    ...(await firstLoad(browser)),
    ...(await captureToScreen(browser)),
    ...(await captureToOtherNode(browser)),
    ...(await largeJson(browser)),
    ...(await scrolling(browser)),
    ...(await flood(browser)),
  ];
}

/** A browser context in which the user of `creel` is logged in. */
export async function contextOf(browser: Browser, creel: MeasuredCreel): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const cookies = creel.cookie.split('; ').map((pair) => {
    const [name = '', value = ''] = pair.split('=', 2);
    return { name, value, url: creel.origin };
  });
  await context.addCookies(cookies);
  await context.addInitScript({ content: IN_PAGE });
  return context;
}

async function withCreel<T>(
  browser: Browser,
  environment: Record<string, string>,
  work: (creel: MeasuredCreel, page: Page) => Promise<T>,
): Promise<T> {
  await using programs = new Programs();
  const creel = programs.keep(await startCreel('browser', environment));
  await using context = await contextOf(browser, creel);
  return await work(creel, await context.newPage());
}

export const pageOf = (creel: MeasuredCreel): string => `${creel.origin}/endpoints/${creel.uid}`;
export const rowOf = (page: Page, index: number) => page.locator(`[role="row"][data-index="${index}"]`);

/** Uses a new browser context for each load, so that nothing is cached. */
async function firstLoad(browser: Browser): Promise<Figure[]> {
  return withCreel(browser, {}, async (creel) => {
    await fetch(creel.captureUrl, { method: 'POST', body: '{}' });
    const usable: number[] = [];
    let scriptBytes = 0;
    for (let round = 0; round < LOADS; round += 1) {
      const context = await contextOf(browser, creel);
      const page = await context.newPage();
      const started = performance.now();
      await page.goto(pageOf(creel), { waitUntil: 'commit' });
      await rowOf(page, 0).click();
      usable.push(performance.now() - started);
      scriptBytes = z.number().parse(await page.evaluate('creelBench.scriptBytes()'));
      await context.close();
    }
    return [
      {
        what: 'First load of an endpoint page until its first row responds to a click, nothing cached',
        value: ms(median(usable)),
      },
      { what: 'JavaScript of that load, compressed', value: `${Math.round(scriptBytes / 1000)} KB` },
    ];
  });
}

async function captureToScreen(browser: Browser): Promise<Figure[]> {
  return withCreel(browser, {}, async (creel, page) => [await timeToScreen(page, creel, pageOf(creel), '')]);
}

/** The same for a page that another node serves. */
async function captureToOtherNode(browser: Browser): Promise<Figure[]> {
  await using programs = new Programs();
  const postgres = programs.keep(await startPostgres());
  const nats = programs.keep(await startNatsWithLog());
  const figures: Figure[] = [];
  for (const [bus, environment] of [
    ['NOTIFY', {}],
    ['NATS', { NATS_URL: nats.url }],
  ] as const) {
    const shared = { DATABASE_URL: postgres.url, ...environment };
    const other = await startCreel('the other node', shared);
    const show = (creel: MeasuredCreel, page: Page): Promise<Figure> =>
      timeToScreen(page, creel, `${other.origin}/endpoints/${creel.uid}`, ` of another node, ${bus}`);
    figures.push(await withCreel(browser, shared, show).finally(() => other.stop()));
  }
  return figures;
}

/** Sends captures at a steady pace while the page shows their endpoint. */
async function timeToScreen(page: Page, creel: MeasuredCreel, pageUrl: string, where: string): Promise<Figure> {
  await page.goto(pageUrl);
  await page.getByText('No requests received yet.').waitFor();
  await page.evaluate('creelBench.watchRows()');
  const sentAt: number[] = [];
  for (let nth = 0; nth < CAPTURES; nth += 1) {
    sentAt.push(Date.now());
    await fetch(creel.captureUrl, { method: 'POST', body: JSON.stringify({ nth }) });
    await sleep(40);
  }
  await rowOf(page, CAPTURES - 1).waitFor();
  await sleep(200);
  const drawnAt = timesSchema.parse(await page.evaluate('creelBench.drawnAt()'));
  const took = sentAt.map((at, nth) => (drawnAt[nth] ?? Number.POSITIVE_INFINITY) - at);
  return {
    what: `From sending a capture to drawing its row in a page${where}, ${CAPTURES} captures: median, p95`,
    value: `${ms(median(took))}, ${ms(quantile(took, 0.95))}`,
  };
}

async function largeJson(browser: Browser): Promise<Figure[]> {
  return withCreel(browser, {}, async (creel, page) => {
    const items = Array.from({ length: 50_000 }, (_, at) => ({
      id: at,
      text: `an item of the large body, number ${at}`,
      price: 1.1,
    }));
    const body =
      JSON.stringify(items)
        .slice(0, -1)
        .padEnd(5_000_000 - 1, ' ') + ']';
    for (const sent of [body, '{"small":true}'])
      await fetch(creel.captureUrl, { method: 'POST', body: sent, headers: { 'content-type': 'application/json' } });
    const took: number[] = [];
    for (let round = 0; round < LOADS; round += 1) {
      await page.goto(pageOf(creel));
      // The newest request is selected by default.
      await page.getByRole('tree').getByText('small').waitFor();
      const started = performance.now();
      await rowOf(page, 0).click();
      await page.getByRole('tree').getByText('"an item of the large body, number 0"').waitFor();
      took.push(performance.now() - started);
    }
    return [
      {
        what: `From a click to the beginning of ${(body.length / 1e6).toFixed(1)} MB of JSON`,
        value: ms(median(took)),
      },
    ];
  });
}

async function scrolling(browser: Browser): Promise<Figure[]> {
  return withCreel(browser, { MAX_UNSAVED_PER_ENDPOINT: String(2 * ROWS) }, async (creel, page) => {
    await sendPaced(creel.captureUrl, 2500, ROWS / 2500);
    const stored = (await creel.client.call('getEndpoint', { params: { uid: creel.uid } })).stats.total;
    await page.goto(pageOf(creel));
    await rowOf(page, stored - 1).waitFor();
    const seen = scrollSchema.parse(await page.evaluate('creelBench.scrollToEnd(400)'));
    return [
      {
        what: `${stored.toLocaleString('en')} requests stored, from typing to the row of the 57th: median`,
        value: ms(median(await findTimes(creel, page))),
      },
      {
        what: `${stored.toLocaleString('en')} rows scrolled from top to end: rows drawn`,
        value: seen.rows.toLocaleString('en'),
      },
      {
        what: 'Frames per second meanwhile; p99 of the time for a frame',
        value: `${(seen.frames / seen.seconds).toFixed(0)}; ${ms(seen.slowFrameMs)}`,
      },
    ];
  });
}

/** Filters for a text that only the 57th request has. A new page for each round, because the results of a search are cached. */
async function findTimes(creel: MeasuredCreel, page: Page): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < LOADS; round += 1) {
    await page.goto(pageOf(creel));
    await page.locator('[role="row"][data-index]').nth(1).waitFor();
    const started = performance.now();
    await page.getByRole('combobox', { name: 'Filter the list' }).fill(String.raw`"\"evt_56\""`);
    await page.getByText('1 match in').first().waitFor();
    times.push(performance.now() - started);
  }
  return times;
}

async function flood(browser: Browser): Promise<Figure[]> {
  return withCreel(browser, {}, async (creel, page) => {
    await fetch(creel.captureUrl, { method: 'POST', body: '{}' });
    await page.goto(pageOf(creel));
    await rowOf(page, 0).waitFor();
    await page.evaluate('creelBench.watchTasks()');
    const acknowledged = await sendPaced(creel.captureUrl, FLOOD.perSecond, FLOOD.seconds);
    await rowOf(page, acknowledged).waitFor();
    const longest = z.number().parse(await page.evaluate('creelBench.longestTask()'));
    const heap = z.number().parse(await page.evaluate('creelBench.heapBytes()'));
    return [
      {
        what: `Longest task of the page during ${(acknowledged / FLOOD.seconds).toFixed(0)} captures a second for ${FLOOD.seconds} s`,
        value: ms(longest),
      },
      { what: 'JavaScript memory of the page after that', value: `${Math.round(heap / 1e6)} MB` },
    ];
  });
}

/** Sends captures at a steady rate without waiting for responses. Returns the number of acknowledged captures. */
async function sendPaced(captureUrl: string, perSecond: number, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const started = performance.now();
  const answers: Promise<boolean>[] = [];
  while (performance.now() - started < seconds * 1000) {
    const due = Math.floor(((performance.now() - started) / 1000) * perSecond);
    while (answers.length < due) answers.push(captureJson(captureUrl, eventOf(answers.length), agent));
    await sleep(TICK_MS);
  }
  const acknowledged = (await Promise.all(answers)).filter(Boolean).length;
  agent.destroy();
  return acknowledged;
}

const eventOf = (nth: number): string => JSON.stringify({ id: `evt_${nth}`, type: 'order.paid', amount: nth });

const ms = (value: number): string => `${Math.round(value)} ms`;

export function browserTable(figures: readonly Figure[]): string {
  return [
    '| In Chromium, headless, on the same machine | |',
    '| --- | ---: |',
    ...figures.map(({ what, value }) => `| ${what} | ${value} |`),
  ].join('\n');
}
