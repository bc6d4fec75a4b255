import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { median } from './median.ts';
import type { Load, LoadOptions, LoadResult } from './load.ts';
import { residentMb, startProgram } from './server-under-test.ts';
import type { Measured, MeasuredCreel } from './server-under-test.ts';

/** What the server needs, so that nobody is refused: each try says that it comes from another address. */
export const MANY_VISITORS = { TRUST_PROXY: '127.0.0.1', SIGNUPS_PER_HOUR: '100000' };

const AT_ONCE = 200;
const TRIES = 200;
/** A name is refused after ten wrong passwords. */
const TRIES_PER_NAME = 8;
/** Seconds of a window: as long as it takes 200 people to sign in beside captures. */
const SECONDS = 22;
/** What comes in meanwhile: a busy team's webhooks, and as much as the machine takes. */
const LOADS = [
  { name: '500 captures a second', connections: 64, pauseMs: 250 },
  { name: 'captures at full speed, 8 connections', connections: 8 },
] as const;

interface Latencies {
  readonly name: string;
  /** p99 of captures, nobody signing in. */
  readonly idleP99Ms: number;
  readonly busyP99Ms: number;
  /** p99 of captures while another program on the machine does what 200 sign-ins cost: what is beyond it is Creel's own doing. */
  readonly elsewhereP99Ms: number;
  readonly idlePerSecond: number;
  readonly busyPerSecond: number;
  /** From the first sign-in sent to the last one answered. */
  readonly allMs: number;
}

export interface SignInTimes {
  readonly beside: readonly Latencies[];
  readonly residentMb: number | undefined;
  /** Medians of a wrong password for a name that exists, and for one that does not. */
  readonly knownMs: number;
  readonly unknownMs: number;
}

function visitor({ origin }: MeasuredCreel): Client {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  return createClient({ baseUrl: origin, headers: () => ({ 'x-forwarded-for': address }) });
}

/** Sends everybody there at once. How long it took until the last of them was answered, in milliseconds. */
async function sendCrowd(crowd: Measured, url: string, body: object): Promise<number> {
  const order = JSON.stringify({ url, people: AT_ONCE, body: JSON.stringify(body) });
  const answer = await fetch(`http://127.0.0.1:${crowd.port}/`, { method: 'POST', body: order });
  const { allMs, refused } = z.object({ allMs: z.number(), refused: z.number() }).parse(await answer.json());
  if (refused > 0) throw new Error(`${refused} of ${AT_ONCE} were refused at ${url}.`);
  return allMs;
}

/**
 * Captures in windows by turns: alone, with 200 people who sign in at the same moment, and beside a program that hashes as much; then
 * what a wrong password costs.
 */
export async function signInTimes(creel: MeasuredCreel, load: Load, rounds: number): Promise<SignInTimes> {
  const credentials = { username: `many-${Date.now()}`, password: 'bench-password' };
  await visitor(creel).call('register', { body: { ...credentials, email: `${credentials.username}@example.com` } });
  const hasher = await startProgram('hasher', join(import.meta.dirname, 'hasher.ts'), '/', {});
  const crowd = await startProgram('crowd', join(import.meta.dirname, 'crowd.ts'), '/', {});
  let memory: number | undefined;
  const signIn = async (): Promise<number> => {
    const all = await sendCrowd(crowd, `${creel.origin}/api/login`, credentials);
    memory = Math.max(memory ?? 0, (await residentMb(creel.pid)) ?? 0);
    return all;
  };
  const hash = (): Promise<number> => sendCrowd(crowd, `http://127.0.0.1:${hasher.port}/`, {});
  const beside: Latencies[] = [];
  for (const options of LOADS)
    beside.push({ name: options.name, ...(await latencies(creel, load, options, { signIn, hash, rounds })) });
  await Promise.all([hasher.stop(), crowd.stop()]);
  return { beside, residentMb: memory, ...(await wrongPasswords(creel)) };
}

async function latencies(
  creel: MeasuredCreel,
  load: Load,
  options: Omit<LoadOptions, 'seconds'>,
  { signIn, hash, rounds }: { signIn: () => Promise<number>; hash: () => Promise<number>; rounds: number },
): Promise<Omit<Latencies, 'name'>> {
  const send = (seconds = SECONDS) => load.send(creel.captureUrl, { ...options, seconds });
  await send(2);
  const idle = [];
  const busy = [];
  const elsewhere = [];
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await send());
    const [signedIn, beside] = await Promise.all([signIn(), send()]);
    took.push(signedIn);
    busy.push(beside);
    elsewhere.push((await Promise.all([send(), hash()]))[0]);
  }
  const p99 = (results: readonly LoadResult[]): number => median(results.map((result) => result.p99Ms));
  const perSecond = (results: readonly LoadResult[]): number => median(results.map((result) => result.perSecond));
  return {
    idleP99Ms: p99(idle),
    busyP99Ms: p99(busy),
    elsewhereP99Ms: p99(elsewhere),
    idlePerSecond: perSecond(idle),
    busyPerSecond: perSecond(busy),
    allMs: median(took),
  };
}

/** Known and unknown names by turns, so that the machine's mood meets both. */
async function wrongPasswords(creel: MeasuredCreel): Promise<{ knownMs: number; unknownMs: number }> {
  const names: string[] = [];
  while (names.length * TRIES_PER_NAME < TRIES) {
    const username = `known-${names.length}-${Date.now()}`;
    await visitor(creel).call('register', {
      body: { username, password: 'bench-password', email: `${username}@example.com` },
    });
    names.push(username);
  }
  const known: number[] = [];
  const unknown: number[] = [];
  for (let nth = 0; nth < TRIES; nth += 1) {
    known.push(await wrongPasswordMs(creel, names[nth % names.length] ?? ''));
    unknown.push(await wrongPasswordMs(creel, `nobody-${nth}-${Date.now()}`));
  }
  return { knownMs: median(known), unknownMs: median(unknown) };
}

async function wrongPasswordMs(creel: MeasuredCreel, username: string): Promise<number> {
  const client = visitor(creel);
  const started = performance.now();
  const answer = await client.call('login', { body: { username, password: 'not-the-password' } }).catch(String);
  const took = performance.now() - started;
  if (typeof answer !== 'string' || !answer.includes('401')) throw new Error(`A wrong password got ${String(answer)}.`);
  return took;
}

const rounded = (value: number): string => value.toFixed(1);

export function signInTable(times: SignInTimes): string {
  const lines = times.beside.map((load) => {
    const cells = [
      load.name,
      `${rounded(load.idleP99Ms)} ms at ${Math.round(load.idlePerSecond).toLocaleString('en')}/s`,
      `${rounded(load.busyP99Ms)} ms at ${Math.round(load.busyPerSecond).toLocaleString('en')}/s`,
      `${rounded(load.elsewhereP99Ms)} ms`,
      `${(load.allMs / 1000).toFixed(1)} s`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `| p99 of | alone | while ${AT_ONCE} people sign in at once | while another program hashes ${AT_ONCE} passwords | all of them signed in after |`,
    '| --- | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `Resident memory after that at most ${times.residentMb ?? '?'} MB. A wrong password takes ${rounded(times.knownMs)} ms for a name that exists and ${rounded(times.unknownMs)} ms for one that does not (medians of ${TRIES}).`,
  ].join('\n');
}
