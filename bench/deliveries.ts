import type { LiveMessage } from '@creel/contract';
import { liveMessageSchema } from '@creel/contract';
import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { z } from 'zod';
import { listenLocally } from '../fixtures/listen-locally.ts';
import { median, quantile } from './quantile.ts';
import type { MeasuredCreel } from './server-under-test.ts';

/** Steady captures, so that the p99 is that of the server and not of a full queue. */
const STEADY = { connections: 64, maxPauseMs: 250 } as const;
/** Short turns, so that a slow moment of the machine spoils few of many. */
const TURN_SECONDS = 2;
/** Number of times that rounds are drawn for an interval. */
const BOOTSTRAPS = 200;
/** The start of a destination is measured apart from the time after it: its threads, the first plans and attempts. */
const START_SECONDS = 0.5;
/** After a destination is deleted, its pending deliveries are still being removed. */
const SETTLE_MS = 500;
const BADGES = 300;
const BADGE_PAUSE_MS = 20;

const turnSchema = z.object({ latenciesMs: z.array(z.number()), failures: z.int() });
type Turn = z.infer<typeof turnSchema>;

/** The turns of one kind, one per round. */
interface Beside {
  readonly name: string;
  readonly seconds: number;
  readonly turns: Turn[];
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
 * Measures captures of an endpoint in short turns: without a destination, with a destination that is dead or answers, and
 * without one again. The last turn is a control: its difference from the first is noise. The captures never stop. Each
 * round has each turn once, in random order. The destination is new in each turn, because it is paused after 50 failures.
 */
async function capturesBeside(
  { client, uid, captureUrl }: MeasuredCreel,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Beside[]> {
  const targets = await startTargets();
  const { connections, maxPauseMs } = STEADY;
  const captures = fork(join(import.meta.dirname, 'steady-captures.ts'), [
    captureUrl,
    String(connections),
    String(maxPauseMs),
  ]);
  /** The captures since the last call. */
  const take = async (): Promise<Turn> => {
    captures.send('take');
    const [message]: unknown[] = await once(captures, 'message');
    return turnSchema.parse(message);
  };
  const kinds = [
    { name: 'without a destination', url: undefined },
    { name: 'without a destination, again', url: undefined },
    { name: 'to a destination whose connections hang', url: targets.hangs },
    { name: 'to a destination that refuses connections', url: targets.refuses },
    { name: 'to a destination that answers', url: targets.answers },
  ].map(({ name, url }) => ({
    url,
    start: { name: `${name}, its first ${START_SECONDS} s`, seconds: START_SECONDS, turns: new Array<Turn>() },
    rest: { name, seconds: TURN_SECONDS, turns: new Array<Turn>() },
  }));
  const shortRounds = Math.max(1, Math.round((rounds * seconds) / TURN_SECONDS));
  // The first round is a warm-up.
  for (let round = -1; round < shortRounds; round += 1) {
    for (const { url, start, rest } of inRandomOrder(kinds)) {
      const created = url && (await client.call('createDestination', { params: { uid }, body: { url } }));
      await take();
      for (const { name, seconds: turnSeconds, turns } of created ? [start, rest] : [rest]) {
        await sleep(turnSeconds * 1000);
        const turn = await take();
        process.stderr.write(
          `${round < 0 ? 'warm-up' : `round ${round + 1}`}  captures ${name}: p99 ${quantile(turn.latenciesMs, 0.99).toFixed(1)} ms\n`,
        );
        if (round >= 0) turns.push(turn);
      }
      if (created) await client.call('deleteDestination', { params: { uid, id: created.id } });
      await sleep(SETTLE_MS);
    }
  }
  captures.disconnect();
  targets.close();
  return kinds.flatMap(({ url, start, rest }) => (url === undefined ? [rest] : [start, rest]));
}

function inRandomOrder<T>(list: readonly T[]): T[] {
  const keyed = list.map((item) => ({ item, key: Math.random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
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

/** Captures with and without destinations, and how soon the result of a delivery is on the screen. */
export async function deliveryFigures(
  creel: MeasuredCreel,
  turns: { readonly rounds: number; readonly seconds: number },
): Promise<DeliveryFigures> {
  // The threads of deliveries start with the first destination.
  await badgeTimes(creel);
  return { badgeMs: await badgeTimes(creel), beside: await capturesBeside(creel, turns) };
}

/** The latencies of the given rounds of these kinds, ascending. */
function pooled(kinds: readonly Beside[], rounds: readonly number[]): Float64Array {
  const turns = kinds.flatMap((kind) => rounds.map((round) => kind.turns[round]?.latenciesMs ?? []));
  return Float64Array.from(turns.flat()).toSorted();
}

const shareOf = (sorted: Float64Array, share: number): number =>
  sorted[Math.floor(sorted.length * share)] ?? Number.NaN;

/**
 * A quantile of all latencies relative to the same of the base, with its 95% interval by bootstrap: measured rounds are
 * drawn at random. A round is drawn with all of its turns, so that a slow moment of the machine counts for both.
 */
function ratioText(kind: Beside, base: readonly Beside[], share: number): string {
  const rounds = kind.turns.map((_, round) => round);
  const ratioIn = (some: readonly number[]): number =>
    shareOf(pooled([kind], some), share) / shareOf(pooled(base, some), share);
  const drawn = Array.from({ length: BOOTSTRAPS }, () => ratioIn(rounds.map(() => randomInt(rounds.length))));
  const [low, high] = [0.025, 0.975].map((end) => quantile(drawn, end).toFixed(2));
  return `${ratioIn(rounds).toFixed(2)} (${low} to ${high})`;
}

/** A Markdown table of the captures of all rounds. */
export function deliveryTable(title: string, { beside, badgeMs }: DeliveryFigures): string {
  const [first, again] = beside;
  if (first === undefined || again === undefined) return '';
  const rounds = first.turns.map((_, round) => round);
  const lines = beside.map((kind) => {
    const all = pooled([kind], rounds);
    const base = kind === again ? [first] : [first, again];
    const cells = [
      `captures ${kind.name}`,
      Math.round(all.length / rounds.length / kind.seconds).toLocaleString('en'),
      ...[0.5, 0.9, 0.99, 0.999].map((share) => shareOf(all, share).toFixed(1)),
      ...[0.9, 0.99].map((share) => (kind === first ? '' : ratioText(kind, base, share))),
      kind.turns.reduce((sum, { failures }) => sum + failures, 0),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `| ${title}, ${rounds.length} rounds of ${TURN_SECONDS} s | captures/s | p50 ms | p90 ms | p99 ms | p99.9 ms | p90 relative to without | p99 | failures |`,
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `From the answer of a destination to the live message about it, ${badgeMs.length} deliveries: median ${median(badgeMs).toFixed(1)} ms, p95 ${quantile(badgeMs, 0.95).toFixed(1)} ms.`,
  ].join('\n');
}
