import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { request } from 'node:http';
import type { Agent } from 'node:http';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats } from '../packages/server/test/nats-server.ts';
import type { NatsServer } from '../packages/server/test/nats-server.ts';
import { startPostgres } from '../scripts/postgres.ts';
import { serverEnvironment, serverFlags } from '../scripts/server-flags.mjs';
import { CookieJar } from '../fixtures/cookie-jar.ts';
import { freePort } from '../fixtures/free-port.ts';
import { withPostgres } from '../fixtures/postgres-client.ts';
import { answersAt, startProgram } from '../fixtures/start-program.ts';

/** Time to exit after SIGTERM, before SIGKILL. */
const STOP_MS = 12_000;

/** A running program under measurement. */
export interface Measured {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** Its PostgreSQL, on this machine. */
  readonly databaseUrl?: string | undefined;
  /** Processes that also work for it, such as a proxy. */
  readonly helpers?: readonly number[];
  readonly stop: () => Promise<void>;
}

/** What one measurement has started. It stops in reverse order at the end of the block that holds it. */
export class Programs extends AsyncDisposableStack {
  keep<T extends { readonly stop: () => Promise<unknown> }>(program: T): T {
    this.defer(async () => void (await program.stop()));
    return program;
  }
}

/** A user who is logged in, with one endpoint. */
export interface MeasuredUser {
  readonly client: Client;
  readonly cookie: string;
  readonly captureUrl: string;
  readonly uid: string;
}

/** Creel with one user. */
export interface MeasuredCreel extends Measured, MeasuredUser {
  readonly origin: string;
}

/** Starts a program as `npm start` starts the server, and waits until `path` answers. */
export async function startMeasured(
  name: string,
  file: string,
  path: string,
  environment: Record<string, string>,
): Promise<Measured> {
  const port = await freePort();
  const { pid, kill } = await startProgram(process.execPath, [...serverFlags, file], {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port), ...serverEnvironment, ...environment },
    isReady: answersAt(`http://127.0.0.1:${port}${path}`),
  });
  return { name, port, pid, stop: async () => void (await kill('SIGTERM', STOP_MS)) };
}

const BUNDLE = join(import.meta.dirname, '..', 'packages', 'server', 'dist', 'main.js');

/** Starts Creel, by default from its bundle like `npm start`, registers a user and creates an endpoint. */
export async function startCreel(
  name: string,
  environment: Record<string, string> = {},
  file = BUNDLE,
): Promise<MeasuredCreel> {
  const dataDir = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'creel-bench-'));
  const program = await startMeasured(name, file, '/readyz', { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...environment });
  const origin = `http://127.0.0.1:${program.port}`;
  return {
    ...program,
    ...(await signUp(origin, name)),
    origin,
    databaseUrl: environment['DATABASE_URL'],
    async stop() {
      await program.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** As many as PostgreSQL reuses with its default settings. */
const LOG_FILES = 60;

/**
 * Starts a PostgreSQL that has its log files, as after some minutes of load. A new one creates a file for every 16 MB,
 * and for 40 to 110 ms stores nothing. Checkpoints between the files would reuse them, so that there are half as many.
 */
export async function startWarmPostgres(): ReturnType<typeof startPostgres> {
  const postgres = await startPostgres();
  await withPostgres(postgres.url, async (client) => {
    await client.query(`alter system set max_wal_size = '4GB'`);
    await client.query('select pg_reload_conf()');
    for (let file = 0; file < LOG_FILES; file += 1) {
      await client.query(`select pg_logical_emit_message(true, 'bench', '')`);
      await client.query('select pg_switch_wal()');
    }
    await client.query('checkpoint');
    await client.query('alter system reset max_wal_size');
    await client.query('select pg_reload_conf()');
  });
  return postgres;
}

/** Starts a nats-server with JetStream, for notices and the overflow log. */
export async function startNatsWithLog(): Promise<NatsServer> {
  const storeDir = await mkdtemp(join(tmpdir(), 'creel-bench-nats-'));
  const nats = await startNats({ storeDir });
  return {
    ...nats,
    async stop(signal) {
      await nats.stop(signal);
      await rm(storeDir, { recursive: true });
    },
  };
}

/** Sends a capture of JSON. Whether it was acknowledged. */
export function captureJson(captureUrl: string, body: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(captureUrl, { agent, method: 'POST', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200));
    });
    sent.on('error', () => resolve(false));
    sent.end(body);
  });
}

let users = 0;

/** Registers a new user and creates an endpoint for them. */
export async function signUp(origin: string, endpointName: string): Promise<MeasuredUser> {
  const jar = new CookieJar();
  const client = createClient({ baseUrl: origin, fetch: jar.fetch });
  users += 1;
  const username = `bench-${users}-${Date.now() % 1_000_000}`;
  await client.call('register', {
    body: { username, password: 'bench-password', email: `${username}@example.com` },
  });
  const endpoint = await client.call('createEndpoint', { body: { name: endpointName, source: 'bench' } });
  return { client, cookie: jar.header(), uid: endpoint.uid, captureUrl: endpoint.url };
}

/** Resident memory in MB from /proc. `undefined` on systems without it. */
export async function residentMb(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kb = /VmRSS:\s+(\d+)/.exec(status)?.[1];
  return kb === undefined ? undefined : Math.round(Number(kb) / 1024);
}

/**
 * User and system time of a program in microseconds: its threads, its helpers with their children, and the processes of
 * its PostgreSQL, by name.
 */
export async function processorMicros({ pid, databaseUrl, helpers = [] }: Measured): Promise<Map<string, number>> {
  const micros = new Map<string, number>();
  const add = (name: string, ticks: number): void => void micros.set(name, (micros.get(name) ?? 0) + ticks * 10_000);
  for (const task of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const { name, own } = await processTimes(`${pid}/task/${task}`);
    add(name, own);
  }
  for (const helper of helpers) {
    const children = await readFile(`/proc/${helper}/task/${helper}/children`, 'utf8').catch(() => '');
    for (const each of [String(helper), ...children.split(' ').filter(Boolean)]) {
      const { name, own } = await processTimes(each);
      add(name, own);
    }
  }
  for (const { pid: backend, name } of databaseUrl === undefined ? [] : await databaseProcesses(databaseUrl)) {
    const { parent, own } = await processTimes(String(backend));
    add(`PostgreSQL ${name}`, own);
    // Such as workers of autovacuum.
    if (name === 'checkpointer') add('PostgreSQL ended', (await processTimes(parent)).ended);
  }
  return micros;
}

function databaseProcesses(url: string): Promise<readonly { pid: number; name: string }[]> {
  return withPostgres(url, async (client) => {
    const { rows } = await client.query<{ pid: number; name: string }>(
      `select pid, coalesce(nullif(application_name, ''), backend_type) as name from pg_stat_activity where pid <> pg_backend_pid()`,
    );
    return rows;
  });
}

/** Ticks of a process or thread, and of its children that ended. */
async function processTimes(id: string): Promise<{ name: string; parent: string; own: number; ended: number }> {
  const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
  const [, name = '', rest = ''] = /\((.*)\) (.*)/.exec(stat) ?? [];
  // From field 3 of proc_pid_stat(5) on: state, parent; fields 14 to 17 are the times.
  const fields = rest.split(' ');
  const sum = (first: number): number => Number(fields[first] ?? 0) + Number(fields[first + 1] ?? 0);
  return { name, parent: fields[1] ?? '', own: sum(11), ended: sum(13) };
}
