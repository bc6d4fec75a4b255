import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMb, signUp, startCreel } from '../server-under-test.ts';
import type { MeasuredCreel } from '../server-under-test.ts';
import type { Attack } from './attacks/attack.ts';
import type { Outcome } from './outcome.ts';
import type { AttackTarget } from './sockets.ts';
import { ask, SteadyRequests } from './witness.ts';
import type { AskedRequest, Observation } from './witness.ts';

const MB = 1_000_000;
const SAMPLE_MS = 50;
/** The server must release all resources within this time after the attack. */
const AFTER_MS = 10_000;
const AFTER_TIMEOUT_MS = 20_000;
const CALM_MS = 2000;
const NEIGHBOR_EVERY_MS = 10;
const NEIGHBOR_P99_MS = 500;
const ASSETS = join(import.meta.dirname, '..', '..', 'packages', 'web', 'dist', 'assets');

const capture = (url: string, body: Buffer): AskedRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
});

const neighborCapture = (creel: MeasuredCreel): AskedRequest =>
  capture(creel.captureUrl, Buffer.from('{"id":"evt_1","type":"order.paid"}'));

/**
 * Sends normal traffic first, so that the memory before the attack is that of a server in use. The first search and the
 * first replay start threads that stay, with about 20 MB each.
 */
async function warmUp(creel: MeasuredCreel): Promise<void> {
  const small = capture(creel.captureUrl, Buffer.alloc(1024, 'x'));
  const large = capture(creel.captureUrl, Buffer.alloc(5 * MB, 'x'));
  for (let round = 0; round < 60; round += 1)
    await Promise.all(Array.from({ length: 50 }, () => ask(small, false, AFTER_TIMEOUT_MS)));
  for (let round = 0; round < 4; round += 1) await ask(large, false, AFTER_TIMEOUT_MS);
  await creel.client.call('search', { query: { q: 'nothing-has-this' } });
  await creel.client.call('replay', { body: { method: 'GET', url: `${creel.origin}/healthz`, headers: [] } });
  await sleep(1500);
}

async function targetOf(creel: MeasuredCreel): Promise<AttackTarget> {
  const attacker = await signUp(creel.origin, 'attacked');
  const file = (await readdir(ASSETS)).find((name) => name.endsWith('.js'));
  return {
    port: creel.port,
    uid: attacker.uid,
    capturePath: `/h/${attacker.uid}`,
    cookie: attacker.cookie,
    staticPath: `/assets/${file ?? ''}`,
  };
}

/** Runs the attacker until it exits or its time is up. Resolves with its output. */
async function attackWith({ name, maxSeconds }: Attack, target: AttackTarget): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'attacker.ts'), name, JSON.stringify(target)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let saw = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (saw += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const timer = setTimeout(() => child.kill('SIGKILL'), maxSeconds * 1000);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  if (code !== null && code !== 0) throw new Error(`The attacker failed:\n${errors}`);
  return saw === '' ? 'stopped' : saw;
}

/** Samples resident memory until `stop`, which returns the peak. */
function watchMemory(pid: number): { stop: () => number } {
  let peak = 0;
  const timer = setInterval(() => {
    void residentMb(pid).then((value) => (peak = Math.max(peak, value ?? 0)));
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

async function bodyBytes(origin: string): Promise<number | undefined> {
  const answer = await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(AFTER_TIMEOUT_MS) })
    .then((response) => response.text())
    .catch(() => '');
  const value = /^creel_body_bytes (\S+)$/m.exec(answer)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** Measures the neighbor's captures without an attack, as a baseline. */
async function calmP99(creel: MeasuredCreel): Promise<number> {
  const neighbor = new SteadyRequests(neighborCapture(creel), NEIGHBOR_EVERY_MS);
  await sleep(CALM_MS);
  return (await neighbor.finish()).p99Ms;
}

interface Seen {
  readonly health: Observation;
  readonly neighbor: Observation;
  readonly dashboard: Observation;
  readonly attackerSaw: string;
  readonly afterMb: number | undefined;
  readonly bodyBytes: number | undefined;
}

async function observe(creel: MeasuredCreel, attack: Attack, target: AttackTarget): Promise<Seen> {
  const headers = { cookie: creel.cookie };
  const health = new SteadyRequests({ url: `${creel.origin}/healthz`, method: 'GET' }, 50);
  const neighbor = new SteadyRequests(neighborCapture(creel), NEIGHBOR_EVERY_MS);
  const dashboard = new SteadyRequests(
    { url: creel.origin + (attack.neighborCall ?? '/api/endpoints'), method: 'GET', headers },
    200,
  );
  const attackerSaw = await attackWith(attack, target);
  await sleep(AFTER_MS);
  const afterMb = await residentMb(creel.pid);
  const held = neighbor.finish();
  const [healthSeen, neighborSeen, dashboardSeen] = await Promise.all([health.finish(), held, dashboard.finish()]);
  return {
    health: healthSeen,
    neighbor: neighborSeen,
    dashboard: dashboardSeen,
    attackerSaw,
    afterMb,
    bodyBytes: await bodyBytes(creel.origin),
  };
}

/** Starts a server, attacks it, and measures it during and after the attack. `environment`: more variables of the server. */
export async function runAttack(attack: Attack, environment: Record<string, string> = {}): Promise<Outcome> {
  const creel = await startCreel(attack.name, { DEFAULT_TIER: 'PREMIUM', ...environment });
  const memory = watchMemory(creel.pid);
  try {
    const target = await targetOf(creel);
    await warmUp(creel);
    const calmP99Ms = await calmP99(creel);
    const beforeMb = await residentMb(creel.pid);
    const seen = await observe(creel, attack, target);
    const peakMb = memory.stop();
    const largeBodies: number[] = [];
    for (const megabytes of [5, 25]) {
      const body = Buffer.alloc(megabytes * MB, 'x');
      largeBodies.push((await ask(capture(creel.captureUrl, body), false, AFTER_TIMEOUT_MS)).status);
    }
    const { name, what, neighborP99Ms = NEIGHBOR_P99_MS } = attack;
    return { name, what, neighborP99Ms, calmP99Ms, ...seen, beforeMb, peakMb, largeBodies };
  } finally {
    memory.stop();
    await creel.stop();
  }
}
