import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { median } from './quantile.ts';
import type { Load, LoadOptions, LoadResult } from './load.ts';
import { Programs, residentMb, startMeasured } from './server-under-test.ts';
import type { Measured, MeasuredCreel } from './server-under-test.ts';

/** Server settings that allow many logins: each client sends its own address. */
export const MANY_LOGINS = { TRUST_PROXY: '127.0.0.1', SIGNUPS_PER_HOUR: '100000' };

const USERS = 200;
const ATTEMPTS = 200;
/** The server locks a name after ten wrong passwords. */
const ATTEMPTS_PER_NAME = 8;
/** Seconds of a window, about the time that 200 logins take while captures arrive. */
const SECONDS = 8;
/** The webhooks of a busy team, and as many as the machine can take. */
const LOADS = [
  { name: '500 captures a second', connections: 64, pauseMs: 250 },
  { name: 'captures at full speed, 8 connections', connections: 8 },
] as const;

interface Latencies {
  readonly name: string;
  /** p99 of captures without logins. */
  readonly idleP99Ms: number;
  readonly busyP99Ms: number;
  readonly idlePerSecond: number;
  readonly busyPerSecond: number;
  /** From the first login request to the last response. */
  readonly allMs: number;
}

interface SignInTimes {
  readonly beside: readonly Latencies[];
  readonly residentMb: number | undefined;
  /** Medians of a wrong password for an existing and for an unknown name. */
  readonly knownMs: number;
  readonly unknownMs: number;
}

function clientOf({ origin }: MeasuredCreel): Client {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  return createClient({ baseUrl: origin, headers: () => ({ 'x-forwarded-for': address }) });
}

/** Sends the call of all users at once. Resolves with the milliseconds until the last response. */
async function sendCrowd(crowd: Measured, url: string, body: object): Promise<number> {
  const order = JSON.stringify({ url, clients: USERS, body: JSON.stringify(body) });
  const response = await fetch(`http://127.0.0.1:${crowd.port}/`, { method: 'POST', body: order });
  const { allMs, failed } = z.object({ allMs: z.number(), failed: z.number() }).parse(await response.json());
  if (failed > 0) throw new Error(`${failed} of ${USERS} calls to ${url} failed.`);
  return allMs;
}

/** Measures captures in alternating windows, without logins and with 200 simultaneous logins, then the time of a wrong password. */
export async function signInTimes(creel: MeasuredCreel, load: Load, rounds: number): Promise<SignInTimes> {
  const credentials = { username: `many-${Date.now()}`, password: 'bench-password' };
  await clientOf(creel).call('register', { body: { ...credentials, email: `${credentials.username}@example.com` } });
  await using programs = new Programs();
  const crowd = programs.keep(await startMeasured('crowd', join(import.meta.dirname, 'crowd.ts'), '/', {}));
  let memory: number | undefined;
  const signIn = async (): Promise<number> => {
    const allMs = await sendCrowd(crowd, `${creel.origin}/api/login`, credentials);
    memory = Math.max(memory ?? 0, (await residentMb(creel.pid)) ?? 0);
    return allMs;
  };
  const beside: Latencies[] = [];
  for (const options of LOADS)
    beside.push({ name: options.name, ...(await latencies(creel, load, options, { signIn, rounds })) });
  return { beside, residentMb: memory, ...(await wrongPasswords(creel)) };
}

async function latencies(
  creel: MeasuredCreel,
  load: Load,
  options: Omit<LoadOptions, 'seconds'>,
  { signIn, rounds }: { signIn: () => Promise<number>; rounds: number },
): Promise<Omit<Latencies, 'name'>> {
  const send = (seconds = SECONDS) => load.send(creel.captureUrl, { ...options, seconds });
  await send(2);
  const idle: LoadResult[] = [];
  const busy: LoadResult[] = [];
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await send());
    const [allMs, beside] = await Promise.all([signIn(), send()]);
    took.push(allMs);
    busy.push(beside);
  }
  const p99 = (results: readonly LoadResult[]): number => median(results.map((result) => result.p99Ms));
  const perSecond = (results: readonly LoadResult[]): number => median(results.map((result) => result.perSecond));
  return {
    idleP99Ms: p99(idle),
    busyP99Ms: p99(busy),
    idlePerSecond: perSecond(idle),
    busyPerSecond: perSecond(busy),
    allMs: median(took),
  };
}

/** Alternates existing and unknown names, so that changes of the machine's speed affect both. */
async function wrongPasswords(creel: MeasuredCreel): Promise<{ knownMs: number; unknownMs: number }> {
  const names: string[] = [];
  while (names.length * ATTEMPTS_PER_NAME < ATTEMPTS) {
    const username = `known-${names.length}-${Date.now()}`;
    await clientOf(creel).call('register', {
      body: { username, password: 'bench-password', email: `${username}@example.com` },
    });
    names.push(username);
  }
  const known: number[] = [];
  const unknown: number[] = [];
  for (let nth = 0; nth < ATTEMPTS; nth += 1) {
    known.push(await wrongPasswordMs(creel, names[nth % names.length] ?? ''));
    unknown.push(await wrongPasswordMs(creel, `nobody-${nth}-${Date.now()}`));
  }
  return { knownMs: median(known), unknownMs: median(unknown) };
}

async function wrongPasswordMs(creel: MeasuredCreel, username: string): Promise<number> {
  const client = clientOf(creel);
  const started = performance.now();
  const result = await client.call('login', { body: { username, password: 'not-the-password' } }).catch(String);
  const took = performance.now() - started;
  if (typeof result !== 'string' || !result.includes('401'))
    throw new Error(`A wrong password returned ${String(result)}.`);
  return took;
}

const rounded = (value: number): string => value.toFixed(1);

export function signInTable(times: SignInTimes): string {
  const lines = times.beside.map((load) => {
    const cells = [
      load.name,
      `${rounded(load.idleP99Ms)} ms at ${Math.round(load.idlePerSecond).toLocaleString('en')}/s`,
      `${rounded(load.busyP99Ms)} ms at ${Math.round(load.busyPerSecond).toLocaleString('en')}/s`,
      `${(load.allMs / 1000).toFixed(1)} s`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `| p99 of captures | alone | beside ${USERS} simultaneous logins | until all are logged in |`,
    '| --- | ---: | ---: | ---: |',
    ...lines,
    '',
    `Resident memory: at most ${times.residentMb ?? '?'} MB. A wrong password takes ${rounded(times.knownMs)} ms for an existing name and ${rounded(times.unknownMs)} ms for an unknown one (medians of ${ATTEMPTS}).`,
  ].join('\n');
}
