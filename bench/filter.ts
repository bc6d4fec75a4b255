import { SEARCHED_HEADER } from '@creel/contract';
import { chromium } from '@playwright/test';
import type { Browser } from '@playwright/test';
import { Agent } from 'node:http';
import { findChromium, launchOptions } from '../scripts/chromium.ts';
import { startPostgres } from '../scripts/postgres.ts';
import { contextOf, pageOf, rowOf } from './browser.ts';
import type { Load } from './load.ts';
import { median } from './quantile.ts';
import { Programs, captureJson, signUp, startCreel } from './server-under-test.ts';
import type { MeasuredCreel } from './server-under-test.ts';

const STORED = 10_000;
const BODY_BYTES = 4096;
/**
 * Number of requests that the page's first call searches. Each further call searches four times as many as all calls
 * before.
 */
const FIRST_SCAN = 1000;
/** About 500 captures per second during the filter, which is repeated until they end. */
const BESIDE = { connections: 8, pauseMs: 30, seconds: 10 };
const ROUNDS_ON_SCREEN = 5;
/** Every request has the first, one of them the second. */
const COMMON = 'order_paid';
const RARE = 'the-57th-request';

interface FilterTimes {
  readonly name: string;
  /** Until the first matches, of a text in every body. */
  readonly first: readonly number[];
  /** Until all bodies are searched for a text in one of them. */
  readonly complete: readonly number[];
  /** From typing the rare text to its row in the browser, without captures. */
  readonly onScreen: readonly number[];
  /** p99 of captures of another user, before and meanwhile. */
  readonly alonePercentileMs: number;
  readonly besidePercentileMs: number;
}

const bodyOf = (nth: number): string =>
  JSON.stringify({
    type: COMMON,
    nth,
    note: nth === 57 ? RARE : '',
    data: Array.from({ length: BODY_BYTES / 8 - 8 }, (_, at) =>
      ((nth * 7919 + at * 104_729) % 10 ** 7).toString().padStart(7, '0'),
    ).join(' '),
  });

async function store({ captureUrl }: MeasuredCreel): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  for (let nth = 0; nth < STORED; nth += 500) {
    const sent = Array.from({ length: 500 }, (_, at) => captureJson(captureUrl, bodyOf(nth + at), agent));
    if ((await Promise.all(sent)).includes(false)) throw new Error('A capture was not acknowledged.');
  }
  agent.destroy();
}

/** Filters with the calls of the page. */
async function filter({ client, uid }: MeasuredCreel, q: string): Promise<{ firstMs: number; completeMs: number }> {
  const start = performance.now();
  let firstMs: number | undefined;
  let searched = 0;
  for (let before: string | undefined, more = true; more;) {
    const scan = Math.max(FIRST_SCAN, 4 * searched);
    const answer = await client.callWithHeaders('search', { query: { q, endpoint: uid, limit: 50, scan, before } });
    firstMs ??= performance.now() - start;
    searched += Number(answer.headers.get(SEARCHED_HEADER) ?? 0);
    before = answer.nextBefore;
    // The page loads further matches as it is scrolled.
    more = before !== undefined && answer.data.length < 50;
  }
  if (q === RARE && searched < STORED) throw new Error(`Only ${searched} of ${STORED} requests were searched.`);
  return { firstMs: firstMs ?? Number.NaN, completeMs: performance.now() - start };
}

/** Types the rare text into the filter of the list, and waits for its row. */
async function filterOnScreen(browser: Browser, creel: MeasuredCreel): Promise<number[]> {
  await using context = await contextOf(browser, creel);
  const page = await context.newPage();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS_ON_SCREEN; round += 1) {
    // A new page, because the results of a search are cached.
    await page.goto(pageOf(creel));
    await rowOf(page, STORED - 1).waitFor();
    const start = performance.now();
    await page.getByRole('combobox', { name: 'Filter the list' }).fill(RARE);
    await page
      .getByText(`1 match in ${STORED.toLocaleString('en')} requests`)
      .first()
      .waitFor();
    times.push(performance.now() - start);
  }
  return times;
}

async function measure(
  name: string,
  load: Load,
  browser: Browser,
  environment: Record<string, string>,
): Promise<FilterTimes> {
  await using programs = new Programs();
  const creel = programs.keep(await startCreel(name, { MAX_UNSAVED_PER_ENDPOINT: String(2 * STORED), ...environment }));
  await store(creel);
  const onScreen = await filterOnScreen(browser, creel);
  const other = await signUp(creel.origin, 'other');
  const alone = await load.send(other.captureUrl, BESIDE);
  let isLoaded = true;
  const beside = load.send(other.captureUrl, BESIDE).finally(() => (isLoaded = false));
  const first: number[] = [];
  const complete: number[] = [];
  while (isLoaded) {
    first.push((await filter(creel, COMMON)).firstMs);
    complete.push((await filter(creel, RARE)).completeMs);
  }
  const { p99Ms } = await beside;
  return { name, first, complete, onScreen, alonePercentileMs: alone.p99Ms, besidePercentileMs: p99Ms };
}

/** Median and slowest. */
const middleAndWorst = (times: readonly number[]): string =>
  `${median(times).toFixed(0)}, ${Math.max(...times).toFixed(0)}`;

/** Filters an endpoint on both databases while another user's captures arrive. A Markdown table. */
export async function filterTable(load: Load): Promise<string> {
  await using programs = new Programs();
  const postgres = programs.keep(await startPostgres());
  await using browser = await chromium.launch(launchOptions(await findChromium()));
  const rows = [
    await measure('SQLite', load, browser, {}),
    await measure('PostgreSQL', load, browser, { DATABASE_URL: postgres.url }),
  ];
  return [
    `| filter over ${STORED.toLocaleString('en')} bodies of ${BODY_BYTES / 1024} KB; median, slowest | rounds | first matches ms | complete ms | from typing to the only match on screen, without captures, ms | p99 of captures alone ms | meanwhile ms |`,
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(({ name, first, complete, onScreen, alonePercentileMs, besidePercentileMs }) => {
      const times = [first, complete, onScreen].map(middleAndWorst);
      const percentiles = [alonePercentileMs, besidePercentileMs].map((ms) => ms.toFixed(1));
      return `| ${[name, first.length, ...times, ...percentiles].join(' | ')} |`;
    }),
  ].join('\n');
}
