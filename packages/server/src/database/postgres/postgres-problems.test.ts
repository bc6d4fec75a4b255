import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OutboxMail } from '../../features/mail/queries.ts';
import { MIGRATIONS } from '../migrations/migrate.ts';
import { write } from '../remote.ts';
import type { EngineDatabase } from '../remote.ts';
import { StorageProblem, StorageUnavailable } from '../store.ts';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import { compileCache } from '../../../../../fixtures/server-program.ts';
import { hasWritten, startProgram } from '../../../../../fixtures/start-program.ts';
import {
  LIMITS,
  T0,
  capture,
  captureMany,
  expectCounted,
  everything,
  indexesOf,
  someEndpoint,
  someUser,
} from '../../../test/store-world.ts';
import { openPostgresStore } from './postgres-store.ts';
import { SESSIONS, openPool } from './session.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';

let database: TestDatabase;
let opened: AppStore[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await database.remove();
});

async function open(url = database.url): Promise<AppStore> {
  const store = await openPostgresStore(url, QUERIES);
  opened.push(store);
  return store;
}

/** The error of opening it, as a sentence. */
async function problemOf(url = database.url): Promise<string> {
  const error: unknown = await open(url).catch((thrown: unknown) => thrown);
  if (!(error instanceof StorageProblem)) throw new Error('It was opened, or failed otherwise.', { cause: error });
  return error.message;
}

function changed(change: (url: URL) => void): string {
  const url = new URL(database.url);
  change(url);
  return url.href;
}

const versions = async (): Promise<unknown[]> =>
  (await database.run('select version from schema_version order by version')).map((row) => row.version);
const known = MIGRATIONS.map((migration) => migration.version);

describe('an unusable server is explained, with what to do, and without the password', () => {
  test('connection refused', async () => {
    expect(await problemOf(changed((url) => (url.port = '9')))).toMatch(
      /^PostgreSQL at 127\.0\.0\.1:9\/\S+ refuses connections\. Start it, or correct DATABASE_URL\.$/,
    );
  });

  test('wrong password or user', async () => {
    for (const url of [
      changed((one) => (one.password = 'secret-guess')),
      changed((one) => (one.password = '')),
      changed((one) => (one.username = 'nobody-known')),
    ]) {
      const problem = await problemOf(url);
      expect(problem).toMatch(/^PostgreSQL at \S+ refuses the user or the password\. Correct DATABASE_URL\.$/);
      expect(problem).not.toContain('secret-guess');
    }
  });

  test('unknown database', async () => {
    expect(await problemOf(changed((url) => (url.pathname = '/creel_not_there')))).toMatch(
      /has no such database\. Create it, or correct DATABASE_URL\.$/,
    );
  });

  test('the database belongs to another program, or is read-only', async () => {
    await database.run('create table users (name text)');
    expect(await problemOf()).toMatch(/already holds tables of another program\. Give Creel a database of its own\.$/);
    await database.run('drop table users');
    await database.run(`alter database ${database.name} set default_transaction_read_only = on`);
    expect(await problemOf()).toMatch(/is read-only\. Set DATABASE_URL to one that can be written\.$/);
  });

  test('the user has no schema', async () => {
    await database.run(`alter database ${database.name} set search_path = 'nowhere'`);
    expect(await problemOf()).toMatch(/has no schema\. Set it to a schema in which the user may create tables\.$/);
  });

  test('the database has an encoding that can’t hold every name', async () => {
    const name = `${database.name}_ascii`;
    await database.run(`create database ${name} template template0 encoding 'SQL_ASCII' locale 'C'`);
    expect(await problemOf(changed((url) => (url.pathname = `/${name}`)))).toContain('encoding SQL_ASCII');
    await database.run(`drop database ${name}`);
  });

  test('a newer version wrote it: nothing is changed', async () => {
    const store = await open();
    opened = [];
    await store.close();
    await database.run('insert into schema_version (version, applied_at) values (999, 0)');
    expect(await problemOf()).toBe(
      `The database was written by a newer version of Creel (schema 999, this version knows ${known.at(-1)}). Start the newer version, or restore a backup.`,
    );
    expect(await versions()).toEqual([...known, 999]);
  });

  test('a database of a newer version that works with this one is used, and left unchanged', async () => {
    await open();
    await database.run(`insert into schema_version values (999, 0, ${known.length})`);
    await expect(someUser(await open())).resolves.toBeDefined();
    expect(await versions()).toEqual([...known, 999]);
  });
});

describe('acknowledged data must be on disk', () => {
  test('synchronous_commit=off is rejected', async () => {
    await database.run(`alter database ${database.name} set synchronous_commit = off`);
    expect(await problemOf()).toBe(
      'PostgreSQL runs with synchronous_commit=off: a power cut could lose requests that were acknowledged. Set synchronous_commit to on.',
    );
  });

  test.each(['local', 'remote_write', 'on', 'remote_apply'])(
    'synchronous_commit=%s is taken, and kept as it is',
    async (level) => {
      await database.run(`alter database ${database.name} set synchronous_commit = ${level}`);
      const store = await open();
      await database.run(`alter database ${database.name} set synchronous_commit = off`);
      await expect(captureMany(store, (await someEndpoint(store)).id, 1)).resolves.toEqual([{ index: 0, savedId: 0 }]);
      await expect(store.checkWritable()).resolves.toBeUndefined();
    },
  );

  test('connections that are opened later are checked too, and readiness reports it', async () => {
    const store = await open();
    const { id } = await someEndpoint(store);
    await database.run(`alter database ${database.name} set synchronous_commit = off`);
    await database.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'creel capture' and datname = current_database()`,
    );
    await expect(captureMany(store, id, 1)).rejects.toBeInstanceOf(Error);
    await expect(captureMany(store, id, 1)).rejects.toThrow(StorageProblem);
    await expect(store.checkWritable()).rejects.toThrow('synchronous_commit=off');
    await database.run(`alter database ${database.name} set synchronous_commit = on`);
    await expect(captureMany(store, id, 1)).resolves.toEqual([{ index: 0, savedId: 0 }]);
  });
});

test('while the disk is full, readiness fails as captures do, also if rows can be changed', async () => {
  const store = await open();
  const { id } = await someEndpoint(store);
  await database.run(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
  await database.run('create trigger refuse before insert on captured_requests execute function refuse()');
  await expect(captureMany(store, id, 1)).rejects.toThrow(StorageUnavailable);
  await expect(store.checkWritable()).rejects.toThrow(StorageUnavailable);
  await expect(store.checkWritable()).rejects.toThrow(StorageUnavailable);
  await database.run('drop trigger refuse on captured_requests');
  await expect(store.checkWritable()).resolves.toBeUndefined();
  expect(await everything(store, id)).toEqual([]);
  await expect(captureMany(store, id, 1)).resolves.toMatchObject([{ index: 0 }]);
});

describe('when other programs use all connections that PostgreSQL allows', () => {
  test('readiness agrees with captures, which keep theirs', async () => {
    const role = `${database.name}_role`;
    const { password } = new URL(database.url);
    await database.run(`create role ${role} login password '${password}'; grant all on schema public to ${role}`);
    const store = await open(changed((url) => (url.username = role)));
    const { id } = await someEndpoint(store);
    await captureMany(store, id, 1);
    await database.run(`alter role ${role} connection limit 0`);
    const end = (kinds: string) =>
      database.run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}' and ${kinds}`);
    await end(`application_name <> 'creel capture'`);
    await expect(someUser(store)).rejects.toThrow(StorageUnavailable);
    await expect(captureMany(store, id, 1)).resolves.toMatchObject([{ index: 1 }]);
    await expect(store.checkWritable()).resolves.toBeUndefined();
    await end('true');
    await expect(captureMany(store, id, 1)).rejects.toThrow(StorageUnavailable);
    await expect(store.checkWritable()).rejects.toThrow(StorageUnavailable);
    await store.close();
    opened = [];
    await database.run(`drop owned by ${role}; drop role ${role}`);
  });

  test('a connection for lookups stays open while it is idle', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const pools = [openPool(database.url, SESSIONS.read), openPool(database.url, SESSIONS.write)];
    for (const pool of pools) await pool.query('select 1');
    vi.advanceTimersByTime(120_000);
    expect(pools.map((pool) => pool.totalCount)).toEqual([1, 0]);
    vi.useRealTimers();
    await Promise.all(pools.map((pool) => pool.end()));
  });
});

describe('migrations', () => {
  test('eight parallel starts apply each migration once, and all succeed', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
    expect(await versions()).toEqual(known);
    for (const store of stores) await expect(someUser(store)).resolves.toBeDefined();
  });

  // All of them with MIGRATIONS=all (CONTRIBUTING.md).
  const killed = process.env['MIGRATIONS'] === 'all' ? known : known.filter((version) => version % 4 === 1);
  test.each(killed)('killed during migration %i, the next start completes it', async (version) => {
    const program = join(import.meta.dirname, '..', '..', '..', 'test', 'interrupted-migration.ts');
    const isReady = hasWritten('halfway');
    const args = [program, database.url, String(version)];
    await (await startProgram(process.execPath, args, { env: compileCache, isReady })).kill('SIGKILL');
    await expect(someUser(await open())).resolves.toBeDefined();
    expect(await versions()).toEqual(known);
  });
});

test('an opened store has the connections that its first reads need', async () => {
  await open();
  const readers = `select 1 from pg_stat_activity where application_name = 'creel read' and datname = current_database()`;
  expect(await database.run(readers)).toHaveLength(SESSIONS.read.connections);
});

describe('beside other servers on the same database', () => {
  test('the limit holds for 50 creations over two of them', async () => {
    const [one, other] = [await open(), await open()];
    const { id: userId } = await someUser(one);
    const tries = await Promise.allSettled(
      Array.from({ length: 50 }, (_, nth) => someEndpoint(nth % 2 === 0 ? one : other, { userId }, 4)),
    );
    expect(tries.filter((made) => made.status === 'fulfilled')).toHaveLength(4);
    expect(await other.listEndpoints(userId)).toHaveLength(4);
  });

  test("batches for the same endpoints in opposite order lose no index, assign none twice, and don't deadlock", async () => {
    const [one, other] = [await open(), await open()];
    const [a, b] = [await someEndpoint(one, { autosave: true }), await someEndpoint(one)];
    const rounds = Array.from({ length: 20 }, async () => [
      await Promise.all([captureMany(one, a.id, 3), captureMany(other, a.id, 3)]),
      await Promise.all([captureMany(one, b.id, 3), captureMany(other, b.id, 3)]),
    ]);
    const stored = (await Promise.all(rounds)).map(([ofA = [], ofB = []]) => ({ ofA: ofA.flat(), ofB: ofB.flat() }));
    const all = Array.from({ length: 120 }, (_, index) => index);
    expect(stored.flatMap(({ ofA }) => ofA.map((row) => row.index)).toSorted((x, y) => x - y)).toEqual(all);
    expect(stored.flatMap(({ ofB }) => ofB.map((row) => row.index)).toSorted((x, y) => x - y)).toEqual(all);
    expect(new Set(stored.flatMap(({ ofA }) => ofA.map((row) => row.savedId))).size).toBe(120);
  });

  test('batches over two of them, at the limit, trim each request once', async () => {
    const stores = [await open(), await open()] as const;
    const endpoints = [await someEndpoint(stores[0]), await someEndpoint(stores[1])];
    const limits = { ...LIMITS, maxUnsaved: 7 };
    const rounds = Array.from({ length: 60 }, async (_, nth) => {
      const [method, other] = nth % 3 === 0 ? ['GET', 'POST'] : ['POST', 'POST'];
      const turns = endpoints.flatMap(({ id: to }) => [
        { to, method, body: 'x'.repeat(nth % 5) },
        { to, method: other, body: 'y' },
      ]);
      await capture(stores[nth % 2 === 0 ? 0 : 1], nth % 4 < 2 ? turns : turns.toReversed(), limits);
    });
    await Promise.all(rounds);
    for (const { id, uid } of endpoints) {
      expect(indexesOf(await everything(stores[0], id))).toEqual([119, 118, 117, 116, 115, 114, 113]);
      await expectCounted(stores[1], uid);
    }
    expect(await database.run('select count(*) from captured_requests')).toEqual([{ count: '14' }]);
  });

  test('each expired endpoint, notice and mail is handled by one of them', async () => {
    const stores = [await open(), await open(), await open()];
    const [one] = stores;
    if (one === undefined) throw new Error('No store.');
    const { id: userId } = await someUser(one);
    for (let nth = 0; nth < 12; nth++) await someEndpoint(one, { userId, expiresAt: nth < 6 ? T0 - 1 : T0 + 1 });
    await database.run(
      `insert into mail_outbox (user_id, content, send_after) select ${userId}, '{}', 0 from generate_series(1, 6)`,
    );
    const onEach = async <T>(work: (store: AppStore) => Promise<readonly T[]>): Promise<readonly T[]> =>
      (await Promise.all([...stores, ...stores].map(work))).flat();
    const noticed = await onEach(async (store) => [await store.addExpiryNotices(T0, T0 + 10, 100)]);
    expect(noticed.reduce((sum, count) => sum + count, 0)).toBe(6);
    const deleted = await onEach((store) => store.deleteExpiredEndpoints(T0, 100));
    const mails: OutboxMail[] = [];
    // Two that want the same email at once both end their round; the next round continues.
    for (let claimed = true; claimed;) {
      const round = (await onEach(async (store) => [await store.claimMail(60_000)])).filter(
        (mail) => mail !== undefined,
      );
      mails.push(...round);
      claimed = round.length > 0;
    }
    for (const ids of [deleted, mails.map(({ id }) => id)]) expect([ids.length, new Set(ids).size]).toEqual([6, 6]);
  });

  test.each([
    ['write', 'on'],
    ['capture', 'on'],
    ['unsynced', 'off'],
  ] as const)('commits of %s sessions wait for the disk: %s', async (kind, level) => {
    const pool = openPool(database.url, SESSIONS[kind]);
    expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: level }]);
    await pool.end();
  });

  test('the server secret is created once, however many of them start', async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => open()));
    const secrets = await Promise.all(
      stores.map((store, nth) => store.findOrCreateSecret('shared', `candidate ${nth}`)),
    );
    expect(new Set(secrets).size).toBe(1);
  });

  test('purging together leaves no row behind', async () => {
    const stores = [await open(), await open(), await open()];
    const [one] = stores;
    if (one === undefined) throw new Error('No store.');
    for (let nth = 0; nth < 3; nth++) {
      const { id } = await someEndpoint(one);
      await captureMany(one, id, 40);
      await one.deleteEndpoint(id);
    }
    let more = true;
    while (more) more = (await Promise.all(stores.map((store) => store.purgeSome(10)))).includes(true);
    expect(await database.run('select count(*) from captured_requests')).toEqual([{ count: '0' }]);
    expect(await database.run('select count(*) from purges')).toEqual([{ count: '0' }]);
  });

  test('captures continue while every connection of the dashboard waits for a lock', async () => {
    const store = await open();
    const { id } = await someEndpoint(store);
    const holder = await database.hold('lock table users in access exclusive mode');
    const waiting = Promise.allSettled([
      ...Array.from({ length: 10 }, () => store.findUser(1)),
      ...Array.from({ length: 10 }, () => someUser(store)),
    ]);
    expect(await captureMany(store, id, 5)).toHaveLength(5);
    await holder.commit();
    expect((await waiting).map((one) => one.status)).toEqual(Array.from({ length: 20 }, () => 'fulfilled'));
  });
});

test('a transaction whose session was ended while it was idle reports that storage is unavailable', async () => {
  const isEnded = async (pid: unknown) =>
    (await database.run(`select 1 from pg_stat_activity where pid = ${String(pid)}`)).length === 0;
  const endIdle = async (db: EngineDatabase): Promise<void> =>
    db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      const pid = rows[0]?.pid;
      // As `idle_in_transaction_session_timeout` does to a node that was frozen.
      await database.run(`select pg_terminate_backend(${String(pid)})`);
      await expect.poll(() => isEnded(pid)).toBe(true);
      await sql`select 1`.execute(transaction);
    });
  const own = await openPostgresStore(database.url, { endIdle: write(endIdle) });
  await expect(own.endIdle()).rejects.toBeInstanceOf(StorageUnavailable);
  await own.close();
});

test.each([
  ['idle_session_timeout', '57P05'],
  ['transaction_timeout', '25P04'],
])('a session that %s ends reports that storage is unavailable', async (_, code) => {
  const end = async (db: EngineDatabase): Promise<void> =>
    void (await sql.raw(`do $$ begin raise exception using errcode = '${code}'; end $$`).execute(db));
  const own = await openPostgresStore(database.url, { end: write(end) });
  await expect(own.end()).rejects.toBeInstanceOf(StorageUnavailable);
  await own.close();
});
