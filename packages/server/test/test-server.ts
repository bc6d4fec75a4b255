import type { Registration, User } from '@creel/contract';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Passwords } from '../src/features/accounts/passwords.ts';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { openPatientStore } from './patient-store.ts';
import { openStore, startServer } from '../src/app.ts';
import type { ServerOptions } from '../src/app.ts';
import { createTestDatabase } from './test-database.ts';
import { z } from 'zod';
import type { AppStore } from '../src/queries.ts';
import { createTestClient } from './test-client.ts';
import type { TestClient } from './test-client.ts';

export interface TestServer extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  readonly port: number;
  readonly dataDir: string;
  /** Where its data is: the URL of the PostgreSQL database, or the data folder. */
  readonly storage: string;
  /** The server's own store, for inspection and for actions without a call. */
  readonly store: AppStore;
  /** The server's clock, which runs and can be advanced. */
  readonly clock: TestClock;
  /** Every log line so far, as text. Empty at LOG_LEVEL `silent`, the default here. */
  readonly log: () => string;
  /** A browser without a login. `headers` are sent with each of its calls. */
  readonly visitor: (headers?: Readonly<Record<string, string>>) => TestClient;
  /** A browser of a newly registered user. */
  readonly register: (
    details?: Partial<Registration>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<TestPerson>;
  /** A browser of a newly registered user with an endpoint. */
  readonly registerOwner: () => Promise<TestOwner>;
  readonly stop: () => Promise<void>;
  /** Stops it, and restarts it with the same data and clock. */
  readonly restart: () => Promise<TestServer>;
}

export interface TestClock {
  readonly now: () => number;
  readonly advance: (milliseconds: number) => void;
}

export interface TestPerson {
  readonly user: User;
  readonly password: string;
  readonly client: TestClient;
}

export interface TestOwner extends TestPerson {
  readonly uid: string;
  readonly endpointId: number;
}

const engineSchema = z.enum(['sqlite', 'postgres', 'two-nodes']).optional();
type Engine = NonNullable<z.infer<typeof engineSchema>>;
const TEST_STORE = engineSchema.parse(process.env['TEST_STORE']);

/** For suites that run on both databases: `describe.each(ENGINES)`. Only the one in TEST_STORE, if it is set. */
export const ENGINES: readonly Engine[] = TEST_STORE === undefined ? ['sqlite', 'postgres'] : [TEST_STORE];

export interface TestServerOptions {
  /** Environment variables. PORT, DATA_DIR and LOG_LEVEL have defaults for tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The database; by default that of TEST_STORE, else SQLite. */
  readonly engine?: Engine;
  /** Opens a store other than SQLite in the data folder. */
  readonly openStore?: (dataDir: string) => Promise<AppStore>;
  /** Cheap by default: the real cost of hashes is a tenth of the time of all tests. */
  readonly passwords?: Passwords;
  readonly timeouts?: ServerOptions['timeouts'];
  /** None by default, so that a socket that closes did not wait for a check of its session. */
  readonly livePingMs?: number;
  /** 0 by default, so that tests stop at once. */
  readonly drainMs?: number;
  readonly replay?: ServerOptions['replay'];
  readonly bus?: ServerOptions['bus'];
  readonly clock?: TestClock;
  /** A data folder that outlives the server. */
  readonly dataDir?: string;
}

/** It runs by default. */
export function createTestClock(now: () => number = Date.now): TestClock {
  let ahead = 0;
  return {
    now: () => now() + ahead,
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
  };
}

/** It advances only when the test advances it: no wait ends by itself, and each has an exact length. */
export function standingClock(): TestClock {
  return createTestClock(() => 1_800_000_000_000);
}

/** The settings of a database. On PostgreSQL it is a new one, dropped with the run's PostgreSQL. */
export async function settingsOf(engine: Engine): Promise<Readonly<Record<string, string>>> {
  return engine === 'sqlite' ? {} : { DATABASE_URL: (await createTestDatabase()).url };
}

/** Two with `two-nodes`, unless the test chooses the database, the store or the bus itself. */
function chosenNodes(engine: Engine, { settings, openStore: open, bus }: TestServerOptions): 1 | 2 {
  const isOwn = settings?.['DATABASE_URL'] !== undefined || open !== undefined || bus !== undefined;
  return engine === 'two-nodes' && !isOwn ? 2 : 1;
}

/** Longer than any test, and within the range of timers. */
const NEVER_MS = 3_600_000;

/** The cost of hashes in most tests. */
export const CHEAP = { memoryKib: 64, passes: 1 };

let people = 0;

async function startNode(
  options: TestServerOptions & { readonly clock: TestClock; readonly dataDir: string },
  lines: string[],
) {
  const { clock, dataDir, settings } = options;
  const config = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...settings });
  const log = createLog(
    config.logLevel,
    false,
    new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) }),
  );
  const store = await (options.openStore?.(dataDir) ?? openStore(config));
  const { port, stop } = await startServer({
    config,
    store,
    log,
    now: clock.now,
    livePingMs: options.livePingMs ?? NEVER_MS,
    drainMs: options.drainMs ?? 0,
    replay: options.replay,
    bus: options.bus,
    passwords: options.passwords ?? new Passwords(CHEAP),
    ...(options.timeouts && { timeouts: options.timeouts }),
  });
  return { origin: `http://127.0.0.1:${port}`, port, dataDir, store, stop };
}

/**
 * Starts the whole server in the test's process, on a free port, with its own data folder. In the project `two nodes`
 * (vitest.config.ts) these are two nodes with one PostgreSQL: the clients alternate between them, and everything else is of
 * the first. A PostgreSQL that the test did not choose waits for locks as long as a busy machine needs.
 */
export async function startTestServer(given: TestServerOptions = {}): Promise<TestServer> {
  const engine = given.engine ?? TEST_STORE ?? 'sqlite';
  const settings = { ...(given.openStore === undefined ? await settingsOf(engine) : {}), ...given.settings };
  const url = given.settings?.['DATABASE_URL'] === undefined ? settings['DATABASE_URL'] : undefined;
  const patient = url === undefined ? {} : { openStore: () => openPatientStore(url) };
  return startNodes({ ...patient, ...given, settings }, chosenNodes(engine, given));
}

async function startNodes(options: TestServerOptions, count: 1 | 2): Promise<TestServer> {
  const { clock = createTestClock(), settings } = options;
  const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'creel-test-'));
  const dataDir = options.dataDir ?? (await newFolder());
  const lines: string[] = [];
  const first = await startNode({ ...options, clock, dataDir }, lines);
  const nodes = [first];
  if (count === 2) {
    // Both make the same links, as nodes behind a balancer do.
    const also = { ...options, clock, dataDir: await newFolder(), settings: { PUBLIC_URL: first.origin, ...settings } };
    nodes.push(await startNode(also, lines));
  }
  const stopNodes = (): Promise<unknown> => Promise.all(nodes.map((node) => node.stop()));
  const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
  const stop = async (): Promise<void> => {
    await stopNodes();
    const folders = nodes.map((node) => node.dataDir);
    await Promise.all(folders.filter((folder) => folder !== options.dataDir).map(remove));
  };
  const visitor: TestServer['visitor'] = (headers) =>
    createTestClient(
      nodes.map(({ origin }) => origin),
      headers,
    );
  const register: TestServer['register'] = async (details = {}, headers = {}) => {
    const client = visitor(headers);
    people += 1;
    const username = `person-${process.pid}-${people}`;
    const body = { username, email: `${username}@example.com`, password: 'a good password', ...details };
    return { user: await client.call('register', { body }), password: body.password, client };
  };
  return {
    origin: first.origin,
    port: first.port,
    dataDir,
    storage: settings?.['DATABASE_URL'] ?? dataDir,
    store: first.store,
    clock,
    log: () => lines.join(''),
    visitor,
    register,
    async registerOwner() {
      const person = await register();
      const { uid, id } = await person.client.call('createEndpoint', { body: {} });
      return { ...person, uid, endpointId: id };
    },
    stop,
    [Symbol.asyncDispose]: stop,
    async restart() {
      await stopNodes();
      const again = await startNodes({ ...options, clock, dataDir }, count);
      const stopAgain = () => again.stop().then(() => remove(dataDir));
      return { ...again, stop: stopAgain, [Symbol.asyncDispose]: stopAgain };
    },
  };
}
