import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { median } from './median.ts';
import type { Load } from './load.ts';
import { residentMb, startProgram } from './server-under-test.ts';
import type { Measured, MeasuredCreel } from './server-under-test.ts';

/** What the server needs, so that nobody is refused: each try says that it comes from another address. */
export const MANY_VISITORS = { TRUST_PROXY: '127.0.0.1', SIGNUPS_PER_HOUR: '100000' };

const AT_ONCE = 200;
const TRIES = 200;
/** A name is refused after ten wrong passwords. */
const TRIES_PER_NAME = 8;
/** Connections of the captures that go on meanwhile, and seconds of a window: as long as 200 sign-ins take, one hash at a time. */
const CONNECTIONS = 8;
const SECONDS = 8;
const ROUNDS = 5;

export interface SignInTimes {
  /** p99 of captures, nobody signing in. */
  readonly idleP99Ms: number;
  readonly busyP99Ms: number;
  /** p99 of captures while another program on the machine does what 200 sign-ins cost: what is beyond it is Creel's own doing. */
  readonly elsewhereP99Ms: number;
  readonly idlePerSecond: number;
  readonly busyPerSecond: number;
  /** From the first sign-in sent to the last one answered. */
  readonly allMs: number;
  readonly residentMb: number | undefined;
  /** Medians of a wrong password for a name that exists, and for one that does not. */
  readonly knownMs: number;
  readonly unknownMs: number;
}

function visitor({ origin }: MeasuredCreel): Client {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  return createClient({ baseUrl: origin, headers: () => ({ 'x-forwarded-for': address }) });
}

/** The same work done by another program: the same hashes, asked for in the same moment. */
async function hashElsewhere(elsewhere: Measured): Promise<unknown> {
  return Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const answer = await fetch(`http://127.0.0.1:${elsewhere.port}/`, { method: 'POST', body: '{}' });
      return answer.text();
    }),
  );
}

/**
 * Captures in windows by turns: alone, with 200 people who sign in at the same moment, and beside a program that hashes as much; then
 * what a wrong password costs.
 */
export async function signInTimes(creel: MeasuredCreel, load: Load): Promise<SignInTimes> {
  const username = `many-${Date.now()}`;
  const password = 'bench-password';
  await visitor(creel).call('register', { body: { username, password, email: `${username}@example.com` } });
  const hasher = await startProgram('hasher', join(import.meta.dirname, 'hasher.ts'), '/', {});
  const send = () => load.send(creel.captureUrl, { connections: CONNECTIONS, seconds: SECONDS });
  await load.send(creel.captureUrl, { connections: CONNECTIONS, seconds: 2 });
  const idle = [await send()];
  const busy = [];
  const elsewhere = [];
  const took: number[] = [];
  let memory: number | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    const everybody = Promise.all(
      Array.from({ length: AT_ONCE }, () => visitor(creel).call('login', { body: { username, password } })),
    ).then(() => took.push(performance.now() - started));
    busy.push(await send());
    memory = Math.max(memory ?? 0, (await residentMb(creel.pid)) ?? 0);
    await everybody;
    const hashed = hashElsewhere(hasher);
    elsewhere.push(await send());
    await hashed;
    idle.push(await send());
  }
  await hasher.stop();
  return {
    idleP99Ms: median(idle.map((result) => result.p99Ms)),
    busyP99Ms: median(busy.map((result) => result.p99Ms)),
    elsewhereP99Ms: median(elsewhere.map((result) => result.p99Ms)),
    idlePerSecond: median(idle.map((result) => result.perSecond)),
    busyPerSecond: median(busy.map((result) => result.perSecond)),
    allMs: median(took),
    residentMb: memory,
    ...(await wrongPasswords(creel)),
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
  const cells = [
    `${rounded(times.idleP99Ms)} ms at ${Math.round(times.idlePerSecond).toLocaleString('en')}/s`,
    `${rounded(times.busyP99Ms)} ms at ${Math.round(times.busyPerSecond).toLocaleString('en')}/s`,
    `${rounded(times.elsewhereP99Ms)} ms`,
    `${(times.allMs / 1000).toFixed(1)} s`,
    String(times.residentMb ?? ''),
    rounded(times.knownMs),
    rounded(times.unknownMs),
  ];
  return [
    `| p99 of captures (${CONNECTIONS} connections) | while ${AT_ONCE} people sign in at once | while another program hashes 200 passwords | all of them signed in after | resident MB, most | wrong password, known name: median of ${TRIES}, ms | unknown name, ms |`,
    '| ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    `| ${cells.join(' | ')} |`,
  ].join('\n');
}
