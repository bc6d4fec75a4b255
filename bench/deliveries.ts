import type { LiveMessage } from '@creel/contract';
import { liveMessageSchema } from '@creel/contract';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { listenLocally } from '../fixtures/listen-locally.ts';
import type { Load, LoadResult } from './load.ts';
import { median, quantile } from './quantile.ts';
import type { MeasuredCreel } from './server-under-test.ts';

/** Steady captures, so that the p99 is that of the server and not of a full queue. */
const STEADY = { connections: 64, pauseMs: 250 } as const;
/** Short turns, so that a slow moment of the machine spoils few of many. */
const TURN_SECONDS = 2;
/** After a destination is deleted, its pending deliveries are still being removed. */
const SETTLE_MS = 500;
const BADGES = 300;
const BADGE_PAUSE_MS = 20;

interface Beside {
  readonly name: string;
  readonly results: readonly LoadResult[];
}

export interface DeliveryFigures {
  readonly beside: readonly Beside[];
  /** Milliseconds from the target's answer to the live message about it, ascending. */
  readonly badgeMs: readonly number[];
}

const startTarget = async (server: Server): Promise<string> => `http://127.0.0.1:${await listenLocally(server)}/`;

/** A target that answers, one that accepts connections and never answers, and one that refuses them. */
async function startTargets(): Promise<{ answers: string; hangs: string; refuses: string; close: () => void }> {
  const working = createServer((request, response) => void request.resume().on('end', () => response.end('ok')));
  const silent = createTcpServer((socket) => socket.on('error', () => undefined).resume());
  const closed = createTcpServer();
  const [answers, hangs, refuses] = [await startTarget(working), await startTarget(silent), await startTarget(closed)];
  await new Promise((resolve) => closed.close(resolve));
  const close = (): void => {
    working.close().closeAllConnections();
    silent.close().unref();
  };
  return { answers, hangs, refuses, close };
}

/**
 * Measures captures of an endpoint in short turns: without a destination, with one that is dead or answers, and without
 * one again as a control, whose difference from the first is noise. Each round starts with another turn, so that none always
 * follows the same one. The destination is new in each turn, because it is paused after 50 failures.
 */
async function capturesBeside(
  { client, uid, captureUrl }: MeasuredCreel,
  load: Load,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Beside[]> {
  const targets = await startTargets();
  const turns = [
    { name: 'without a destination', url: undefined },
    { name: 'to a destination whose connections hang', url: targets.hangs },
    { name: 'without a destination, again', url: undefined },
    { name: 'to a destination that refuses connections', url: targets.refuses },
    { name: 'to a destination that answers', url: targets.answers },
  ].map((turn) => ({ ...turn, results: new Array<LoadResult>() }));
  const shortRounds = Math.max(1, Math.round((rounds * seconds) / TURN_SECONDS));
  // The first round is a warm-up.
  for (let round = -1; round < shortRounds; round += 1) {
    const first = (round + turns.length) % turns.length;
    for (const { name, url, results } of [...turns.slice(first), ...turns.slice(0, first)]) {
      const created = url && (await client.call('createDestination', { params: { uid }, body: { url } }));
      const result = await load.send(captureUrl, { ...STEADY, seconds: TURN_SECONDS });
      if (created) await client.call('deleteDestination', { params: { uid, id: created.id } });
      await sleep(SETTLE_MS);
      process.stderr.write(
        `${round < 0 ? 'warm-up' : `round ${round + 1}`}  captures ${name}: p99 ${result.p99Ms.toFixed(1)} ms\n`,
      );
      if (round >= 0) results.push(result);
    }
  }
  targets.close();
  return turns;
}

/** The index in the header of a capture's answer. */
async function capture(url: string, body: string): Promise<number> {
  const answer = await fetch(url, { method: 'POST', body });
  await answer.arrayBuffer();
  return Number(answer.headers.get('x-creel-request'));
}

/** Forwards captures to a target that answers at once, while a live view is open. */
async function badgeTimes({ client, uid, captureUrl, port, cookie }: MeasuredCreel): Promise<number[]> {
  const answeredAt = new Map<string, number>();
  const shownAt = new Map<number, number>();
  const target = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      answeredAt.set(body, performance.now());
      response.end('ok');
    });
  });
  const created = await client.call('createDestination', { params: { uid }, body: { url: await startTarget(target) } });
  const viewer = new WebSocket(`ws://127.0.0.1:${port}/ws?endpoint=${uid}`, { headers: { cookie } });
  await new Promise((resolve) => viewer.once('message', resolve));
  viewer.on('message', (data: Buffer) => {
    const message: LiveMessage = liveMessageSchema.parse(JSON.parse(data.toString()));
    if (message.type === 'delivery') shownAt.set(message.data.index, performance.now());
  });
  const indexes: number[] = [];
  for (let nth = 0; nth < BADGES; nth += 1) {
    indexes.push(await capture(captureUrl, String(nth)));
    await sleep(BADGE_PAUSE_MS);
  }
  for (let waited = 0; shownAt.size < BADGES && waited < 5000; waited += 50) await sleep(50);
  viewer.close();
  await client.call('deleteDestination', { params: { uid, id: created.id } });
  target.close();
  return indexes
    .map((index, nth) => (shownAt.get(index) ?? Number.NaN) - (answeredAt.get(String(nth)) ?? Number.NaN))
    .toSorted((a, b) => a - b);
}

/** Captures beside destinations, and how soon the result of a delivery is on the screen. */
export async function deliveryFigures(
  creel: MeasuredCreel,
  load: Load,
  turns: { readonly rounds: number; readonly seconds: number },
): Promise<DeliveryFigures> {
  // The threads of deliveries start with the first destination.
  await badgeTimes(creel);
  return { badgeMs: await badgeTimes(creel), beside: await capturesBeside(creel, load, turns) };
}

/** Medians over all rounds. The ratio is of the medians of the p99. */
export function deliveryTable(title: string, { beside, badgeMs }: DeliveryFigures): string {
  const [base] = beside.map(({ results }) => median(results.map(({ p99Ms }) => p99Ms)));
  const lines = beside.map(({ name, results }) => {
    const p99s = results.map(({ p99Ms }) => p99Ms).toSorted((a, b) => a - b);
    const cells = [
      `captures ${name}`,
      Math.round(median(results.map(({ perSecond }) => perSecond))).toLocaleString('en'),
      median(results.map(({ p50Ms }) => p50Ms)).toFixed(1),
      median(p99s).toFixed(1),
      `${quantile(p99s, 0.25).toFixed(1)} to ${quantile(p99s, 0.75).toFixed(1)}`,
      (median(p99s) / (base ?? Number.NaN)).toFixed(2),
      results.reduce((sum, { failures }) => sum + failures, 0),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `| ${title}, ${beside[0]?.results.length ?? 0} rounds of ${TURN_SECONDS} s | captures/s | p50 ms | p99 ms | middle half of the p99 | of the first row | failures |`,
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `From the answer of a destination to the live message about it, ${badgeMs.length} deliveries: median ${median(badgeMs).toFixed(1)} ms, p95 ${quantile(badgeMs, 0.95).toFixed(1)} ms.`,
  ].join('\n');
}
