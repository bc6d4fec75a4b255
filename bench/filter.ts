import { SEARCHED_HEADER } from '@creel/contract';
import { Agent, request } from 'node:http';
import { startPostgres } from '../scripts/postgres.ts';
import type { Load } from './load.ts';
import { median } from './median.ts';
import { signUp, startCreel } from './server-under-test.ts';
import type { MeasuredCreel } from './server-under-test.ts';

const STORED = 10_000;
const BODY_BYTES = 4096;
/** Number of requests that the page's first call looks at. */
const FIRST_SCAN = 2000;
const ROUNDS = 9;
/** About 500 captures per second beside the filter. */
const BESIDE = { connections: 8, pauseMs: 30, seconds: 5 };
/** Every request has the first, one of them the second. */
const COMMON = 'order_paid';
const RARE = 'the-57th-request';

interface FilterTimes {
  readonly name: string;
  /** Until the first matches, of a text in every body. */
  readonly firstMs: number;
  /** Until all bodies are searched for a text in one of them. */
  readonly completeMs: number;
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

function post(url: string, body: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume();
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`))));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function store({ captureUrl }: MeasuredCreel): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  for (let nth = 0; nth < STORED; nth += 500)
    await Promise.all(Array.from({ length: 500 }, (_, at) => post(captureUrl, bodyOf(nth + at), agent)));
  agent.destroy();
}

/** Filters as the page does: a short first call, then all that follow. */
async function filter({ client, uid }: MeasuredCreel, q: string): Promise<{ firstMs: number; completeMs: number }> {
  const start = performance.now();
  let firstMs: number | undefined;
  let searched = 0;
  for (let before: string | undefined, more = true; more;) {
    const scan = before === undefined ? FIRST_SCAN : undefined;
    const answer = await client.callWithHeaders('search', { query: { q, endpoint: uid, limit: 50, scan, before } });
    firstMs ??= performance.now() - start;
    searched += Number(answer.headers.get(SEARCHED_HEADER) ?? 0);
    before =
      answer.next === undefined
        ? undefined
        : (new URL(answer.next, 'http://h').searchParams.get('before') ?? undefined);
    // The page loads further matches as it is scrolled.
    more = before !== undefined && answer.data.length < 50;
  }
  if (q === RARE && searched < STORED) throw new Error(`Only ${searched} of ${STORED} requests were searched.`);
  return { firstMs: firstMs ?? Number.NaN, completeMs: performance.now() - start };
}

async function measure(name: string, load: Load, environment: Record<string, string>): Promise<FilterTimes> {
  const creel = await startCreel(name, { MAX_UNSAVED_PER_ENDPOINT: String(2 * STORED), ...environment });
  try {
    await store(creel);
    const other = await signUp(creel.origin, 'other');
    const alone = await load.send(other.captureUrl, BESIDE);
    const beside = load.send(other.captureUrl, BESIDE);
    const firsts: number[] = [];
    const completes: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      firsts.push((await filter(creel, COMMON)).firstMs);
      completes.push((await filter(creel, RARE)).completeMs);
    }
    return {
      name,
      firstMs: median(firsts),
      completeMs: median(completes),
      alonePercentileMs: alone.p99Ms,
      besidePercentileMs: (await beside).p99Ms,
    };
  } finally {
    await creel.stop();
  }
}

/** Filters an endpoint on both databases while another user's captures arrive. A Markdown table. */
export async function filterTable(load: Load): Promise<string> {
  const postgres = await startPostgres();
  try {
    const rows = [await measure('SQLite', load, {}), await measure('PostgreSQL', load, { DATABASE_URL: postgres.url })];
    return [
      `| filter over ${STORED.toLocaleString('en')} bodies of ${BODY_BYTES / 1024} KB | first matches ms | complete ms | p99 of captures alone ms | meanwhile ms |`,
      '| --- | ---: | ---: | ---: | ---: |',
      ...rows.map(
        ({ name, ...times }) =>
          `| ${name} | ${[times.firstMs, times.completeMs, times.alonePercentileMs, times.besidePercentileMs].map((ms) => ms.toFixed(1)).join(' | ')} |`,
      ),
    ].join('\n');
  } finally {
    await postgres.stop();
  }
}
