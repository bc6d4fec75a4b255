import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverEnvironment, serverFlags } from '../scripts/server-flags.mjs';
import { freePort } from '../fixtures/free-port.ts';

const START_MS = 30_000;
/** Time to exit after SIGTERM, before SIGKILL. */
const STOP_MS = 12_000;

/** A running program under measurement. */
export interface Measured {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** A user who is logged in, with one endpoint. */
export interface MeasuredUser {
  readonly client: Client;
  readonly cookie: string;
  /** Capture URL of the endpoint. */
  readonly captureUrl: string;
  readonly uid: string;
}

/** Creel with one user. */
export interface MeasuredCreel extends Measured, MeasuredUser {
  readonly origin: string;
}

async function untilAnswering(url: string, output: () => string): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(50);
  }
  throw new Error(`${url} does not respond. Its output:\n${output()}`);
}

/** Starts a program and waits until `path` answers. */
export async function startProgram(
  name: string,
  file: string,
  path: string,
  environment: Record<string, string>,
): Promise<Measured> {
  const port = await freePort();
  const child = spawn(process.execPath, [...serverFlags, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port), ...serverEnvironment, ...environment },
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  await untilAnswering(`http://127.0.0.1:${port}${path}`, () => text);
  return {
    name,
    port,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(force);
    },
  };
}

const BUNDLE = join(import.meta.dirname, '..', 'packages', 'server', 'dist', 'main.js');

/** Starts Creel, by default from its bundle like `npm start`, registers a user and creates an endpoint. */
export async function startCreel(
  name: string,
  environment: Record<string, string> = {},
  file = BUNDLE,
): Promise<MeasuredCreel> {
  const dataDir = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'creel-bench-'));
  const program = await startProgram(name, file, '/readyz', { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...environment });
  const origin = `http://127.0.0.1:${program.port}`;
  return {
    ...program,
    ...(await signUp(origin, name)),
    origin,
    async stop() {
      await program.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

let users = 0;

/** Registers a new user and creates an endpoint for them. */
export async function signUp(origin: string, endpointName: string): Promise<MeasuredUser> {
  let cookie = '';
  const client = createClient({
    baseUrl: origin,
    headers: (): Record<string, string> => (cookie === '' ? {} : { cookie }),
  });
  users += 1;
  const username = `bench-${users}-${Date.now() % 1_000_000}`;
  const answer = await client.callWithHeaders('register', {
    body: { username, password: 'bench-password', email: `${username}@example.com` },
  });
  cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  const endpoint = await client.call('createEndpoint', { body: { name: endpointName, source: 'bench' } });
  return { client, cookie, uid: endpoint.uid, captureUrl: endpoint.url };
}

/** Resident memory in MB from /proc. `undefined` on systems without it. */
export async function residentMb(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kb = /VmRSS:\s+(\d+)/.exec(status)?.[1];
  return kb === undefined ? undefined : Math.round(Number(kb) / 1024);
}

/** User and system time of a process in microseconds, by thread name. */
export async function threadMicros(pid: number): Promise<Map<string, number>> {
  const { readdir } = await import('node:fs/promises');
  const micros = new Map<string, number>();
  for (const task of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const stat = await readFile(`/proc/${pid}/task/${task}/stat`, 'utf8').catch(() => '');
    const parts = /\((.*)\) (.*)/.exec(stat);
    const fields = parts?.[2]?.split(' ') ?? [];
    const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
    const name = parts?.[1] ?? '';
    micros.set(name, (micros.get(name) ?? 0) + ticks * 10_000);
  }
  return micros;
}
