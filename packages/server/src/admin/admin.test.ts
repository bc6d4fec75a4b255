import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseSum } from '../../test/database-sum.ts';
import { createTestDatabase } from '../../test/test-database.ts';
import type { TestDatabase } from '../../test/test-database.ts';
import { startTestServer } from '../../test/test-server.ts';
import { openSqliteStore } from '../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../queries.ts';
import { openPostgresStore } from '../database/postgres/postgres-store.ts';
import { runAdmin } from './commands.ts';

/** IMPORT_REQUESTS=100000 is the full count (CONTRIBUTING.md). */
const IMPORTED = Number(process.env['IMPORT_REQUESTS'] ?? 600);

const folder = mkdtempSync(join(tmpdir(), 'creel-admin-'));

async function admin(
  words: readonly string[],
  config: { dataDir?: string; databaseUrl?: string } = {},
): Promise<string[]> {
  const lines: string[] = [];
  const { dataDir = server.dataDir, databaseUrl } = config;
  await runAdmin(words, { dataDir, databaseUrl }, (line) => lines.push(line));
  return lines;
}

async function capture(count: number, body: (nth: number) => string | Uint8Array<ArrayBuffer>): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    const answer = await fetch(`${server.origin}/h/${uid}/p?n=${nth}`, { method: 'POST', body: body(nth) });
    expect(answer.status).toBe(200);
  }
}

const server = await startTestServer({
  openStore: (dataDir) => openSqliteStore(dataDir, QUERIES),
  settings: { MAX_UNSAVED_PER_ENDPOINT: '200000' },
});
const person = await server.register();
const { uid } = await person.client.call('createEndpoint', { body: {} });
await capture(20, (nth) => new Uint8Array([0, 255, nth]));
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('backup', () => {
  it('has every request that was acknowledged before it began, while captures go on', async () => {
    let stopped = false;
    const load = (async () => {
      while (!stopped) await capture(1, () => 'x'.repeat(20_000));
    })();
    const file = join(folder, 'one.db');
    const { stats } = await person.client.call('getEndpoint', { params: { uid } });
    const [line] = await admin(['backup', file]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    stopped = true;
    await load;
    expect(Number(/Saved (\d+) requests/.exec(line ?? '')?.[1])).toBeGreaterThanOrEqual(stats.total);
    expect(await admin(['verify', file])).toEqual(['No mistakes found.']);
    expect(readdirSync(folder)).toEqual(['one.db']);
  });

  it('never overwrites a file', async () => {
    await expect(admin(['backup', join(folder, 'one.db')])).rejects.toThrow('exists');
  });

  it('is written once by two commands at the same time', async () => {
    const file = join(folder, 'two.db');
    const results = await Promise.allSettled([admin(['backup', file]), admin(['backup', file])]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const rejected = results.find(({ status }) => status === 'rejected');
    expect(rejected).toMatchObject({ reason: { message: expect.stringContaining(`${file}.partial exists`) } });
    expect(await admin(['verify', file])).toEqual(['No mistakes found.']);
    rmSync(file);
  });

  it('leaves no part of a file when it is interrupted', async () => {
    const data = mkdtempSync(join(folder, 'large-'));
    await admin(['backup', join(data, 'creel.db')]);
    const database = new DatabaseSync(join(data, 'creel.db'));
    database.exec('create table padding as select zeroblob(300000000)');
    database.close();
    const target = mkdtempSync(join(folder, 'interrupted-'));
    const program = join(import.meta.dirname, 'main.ts');
    const options = { env: { PATH: process.env['PATH'], DATA_DIR: data }, stdio: 'inherit' } as const;
    const child = spawn(process.execPath, [program, 'backup', join(target, 'x.db')], options);
    const ended = once(child, 'exit');
    await expect.poll(() => readdirSync(target), { interval: 1 }).not.toEqual([]);
    child.kill('SIGTERM');
    await ended;
    // A copy that was faster than the signal is complete.
    expect(readdirSync(target)).toEqual(child.exitCode === 0 ? ['x.db'] : []);
    rmSync(data, { recursive: true });
    rmSync(target, { recursive: true });
  });
});

describe('verify', () => {
  it('names a damaged file and a counter that is wrong', async () => {
    const damaged = join(folder, 'damaged.db');
    await admin(['backup', damaged]);
    const descriptor = openSync(damaged, 'r+');
    writeSync(descriptor, Buffer.alloc(8192, 7), 0, 8192, 8192 * 3);
    await expect(admin(['verify', damaged])).rejects.toThrow(/damaged|can't be read/);
    const counted = join(folder, 'counted.db');
    await admin(['backup', counted]);
    const database = new DatabaseSync(counted);
    database.exec('update endpoints set unsaved_count = unsaved_count + 1');
    database.close();
    await expect(admin(['verify', counted])).rejects.toThrow(uid);
    rmSync(damaged);
    rmSync(counted);
  });

  it('says that a file is no database', async () => {
    const text = join(folder, 'text.db');
    appendFileSync(text, 'not a database, but long enough to be read as one '.repeat(50));
    await expect(admin(['verify', text])).rejects.toThrow("can't be read");
  });
});

describe('accounts', () => {
  it('lists users, changes a plan, and counts the stored rows', async () => {
    const { username } = person.user;
    expect(await admin(['set-plan', username, 'PREMIUM'])).toEqual([`“${username}” has the plan PREMIUM.`]);
    expect((await person.client.call('getUser', {})).subscriptionTier).toBe('PREMIUM');
    expect((await admin(['list-users'])).join('\n')).toContain(`${username}\t${person.user.email}\tPREMIUM\t1\t`);
    expect(await admin(['stats'])).toContain('users\t1');
  });

  it('lists the bytes of all bodies of a user, each once', async () => {
    await person.client.call('createEndpoint', { body: {} });
    await capture(2, () => 'four');
    await fetch(`${server.origin}/h/${uid}`, { method: 'PUT', body: 'an endpoint with two methods' });
    const [line = ''] = await admin(['list-users']);
    const [endpoints, , bodyBytes] = line.split('\t').slice(-3);
    expect(endpoints).toBe('2');
    expect(await admin(['stats'])).toContain(`bodyBytes\t${bodyBytes}`);
  });

  it('does not change a plan that a subscription sets', async () => {
    const database = new DatabaseSync(join(server.dataDir, 'creel.db'), { timeout: 5000 });
    database.exec(`update users set stripe_subscription_id = 'sub_1'`);
    await expect(admin(['set-plan', person.user.username, 'FREE'])).rejects.toThrow('subscription');
    database.exec(`update users set stripe_subscription_id = null`);
    database.close();
    await expect(admin(['set-plan', 'nobody', 'FREE'])).rejects.toThrow('There is no user “nobody”.');
  });
});

it.each([
  [['backup'], 'Usage: creel admin backup FILE'],
  [['set-plan', 'a', 'GOLD'], 'The plan must be FREE, BASIC or PREMIUM.'],
  [['fly'], 'There is no command “fly”.'],
  [['restore', 'x.db'], 'no database'],
  [['vacuum'], 'Another Creel server is using the data folder'],
  [['backup', join(folder, 'missing', 'x.db')], 'creel admin backup failed: ENOENT: no such file or directory'],
  [['backup', ''], 'does not take the argument “”'],
  [['backup', '--force'], 'does not take the argument “--force”'],
  [['verify', '/nonexistent'], 'There is no database /nonexistent. Name the file of a backup.'],
  [['verify', folder], `There is no database ${folder}. Name the file of a backup.`],
])('creel admin %j says %s', async (words, sentence) => {
  await expect(admin(words)).rejects.toThrow(sentence);
});

it('a database that the user may not look for is not called missing', async () => {
  // Root may open every folder, but no link to itself.
  const dataDir = join(folder, 'loop');
  symlinkSync(dataDir, dataDir);
  await expect(admin(['stats'], { dataDir })).rejects.toThrow('creel admin stats failed: ELOOP');
  await expect(admin(['verify', join(dataDir, 'x.db')])).rejects.toThrow('creel admin verify failed: ELOOP');
  const databaseUrl = 'postgres://127.0.0.1:9/creel';
  await expect(admin(['import', dataDir], { databaseUrl })).rejects.toThrow('creel admin import failed: ELOOP');
  rmSync(dataDir);
});

it('--help prints the usage and makes no file, and a damaged database is reported in a sentence', async () => {
  for (const words of [['--help'], ['help'], ['-h'], ['backup', '--help'], ['set-plan', '-h']])
    expect((await admin(words))[0]).toMatch(/^Usage: creel admin <command>/);
  expect(readdirSync('.')).not.toContain('--help');
  const dataDir = mkdtempSync(join(folder, 'text-'));
  appendFileSync(join(dataDir, 'creel.db'), 'not a database '.repeat(50));
  for (const name of ['stats', 'list-users', 'vacuum'])
    await expect(admin([name], { dataDir })).rejects.toThrow(`creel admin ${name} failed: file is not a database.`);
  const databaseUrl = 'postgres://127.0.0.1:9/creel';
  await expect(admin(['import', dataDir], { dataDir, databaseUrl })).rejects.toThrow('file is not a database.');
});

describe('with a stopped server', () => {
  let dataDir: string;
  let database: TestDatabase;

  beforeAll(async () => {
    await capture(IMPORTED, (nth) => new Uint8Array(nth % 5000).fill(nth));
    await person.client.call('saveRequest', { params: { uid }, body: { index: 3 } });
    const copy = join(folder, 'whole.db');
    await admin(['backup', copy]);
    dataDir = mkdtempSync(join(folder, 'data-'));
    await admin(['restore', copy], { dataDir });
    database = await createTestDatabase();
  }, 300_000);
  afterAll(() => database.remove());

  it('restores a backup in the place of a database, and keeps the previous one', async () => {
    const before = await databaseSum(dataDir);
    const [line = ''] = await admin(['restore', join(folder, 'one.db')], { dataDir });
    const kept = /database is (.*)\.$/.exec(line)?.[1] ?? '';
    expect(existsSync(kept)).toBe(true);
    expect(await databaseSum(dataDir)).not.toBe(before);
    await admin(['restore', kept], { dataDir });
    expect(await databaseSum(dataDir)).toBe(before);
    expect(await admin(['vacuum'], { dataDir })).toEqual(['Done.']);
    expect(await databaseSum(dataDir)).toBe(before);
  }, 300_000);

  async function sumOfBackup(): Promise<string> {
    const alone = mkdtempSync(join(folder, 'alone-'));
    copyFileSync(join(folder, 'one.db'), join(alone, 'creel.db'));
    return databaseSum(alone);
  }

  it('restores for the owner of the folder, so that root can restore for the user of the server', async () => {
    const other = mkdtempSync(join(folder, 'owned-'));
    if (process.getuid?.() === 0) chownSync(other, 65_534, 65_534);
    await admin(['restore', join(folder, 'one.db')], { dataDir: other });
    const owner = statSync(other);
    for (const name of readdirSync(other))
      expect(statSync(join(other, name))).toMatchObject({ uid: owner.uid, gid: owner.gid });
  });

  it('restores in the place of a damaged database, and keeps it', async () => {
    const damaged = mkdtempSync(join(folder, 'damaged-'));
    appendFileSync(join(damaged, 'creel.db'), 'not a database '.repeat(50));
    const [line = ''] = await admin(['restore', join(folder, 'one.db')], { dataDir: damaged });
    expect(await databaseSum(damaged)).toBe(await sumOfBackup());
    expect(statSync(/database is (.*)\.$/.exec(line)?.[1] ?? '').size).toBe(750);
  });

  it('restores the backup alone where the log of a removed database is left', async () => {
    const left = mkdtempSync(join(folder, 'left-'));
    using writer = new DatabaseSync(join(dataDir, 'creel.db'));
    writer.exec(`pragma journal_mode = wal; update users set display_name = 'in the log'`);
    copyFileSync(join(dataDir, 'creel.db-wal'), join(left, 'creel.db-wal'));
    await admin(['restore', join(folder, 'one.db')], { dataDir: left });
    expect(await databaseSum(left)).toBe(await sumOfBackup());
  });

  it('restores a copied database with its log', async () => {
    const copied = mkdtempSync(join(folder, 'copied-'));
    using writer = new DatabaseSync(join(dataDir, 'creel.db'));
    writer.exec(`pragma journal_mode = wal; update users set display_name = 'also in the log'`);
    for (const suffix of ['', '-wal']) copyFileSync(join(dataDir, `creel.db${suffix}`), join(copied, `copy${suffix}`));
    await admin(['restore', join(copied, 'copy')], { dataDir: copied });
    using restored = new DatabaseSync(join(copied, 'creel.db'));
    expect(restored.prepare('select distinct display_name as name from users').all()).toEqual([
      { name: 'also in the log' },
    ]);
  });

  it('leaves no copy behind if a restore fails', async () => {
    const occupied = mkdtempSync(join(folder, 'occupied-'));
    mkdirSync(join(occupied, 'creel.db'));
    await expect(admin(['restore', join(folder, 'one.db')], { dataDir: occupied })).rejects.toThrow('restore failed');
    expect(readdirSync(occupied)).toEqual(['creel.db', 'creel.lock']);
  });

  it('imports a SQLite database into PostgreSQL with everything exact', async () => {
    const empty = 'has no tables of Creel. Correct DATABASE_URL, or start the server once.';
    await expect(admin(['stats'], { databaseUrl: database.url })).rejects.toThrow(empty);
    await admin(['import', dataDir], { databaseUrl: database.url });
    const onSqlite = new DatabaseSync(join(dataDir, 'creel.db'), { readOnly: true });
    const tables = onSqlite
      .prepare(
        `select name from sqlite_schema where type = 'table' and name not in ('schema_version', 'sqlite_sequence')`,
      )
      .all();
    for (const { name } of tables) {
      const statement = onSqlite.prepare(`select * from "${String(name)}" order by 1, 2`);
      statement.setReadBigInts(true);
      expect(await database.run(`select * from "${String(name)}" order by 1, 2`)).toEqual(
        statement.all().map(asPostgres),
      );
    }
    onSqlite.close();
    await expect(admin(['import', dataDir], { databaseUrl: database.url })).rejects.toThrow('accounts already');
  }, 300_000);

  it('goes on with new ids after the import', async () => {
    await using again = await startTestServer({ openStore: () => openPostgresStore(database.url, QUERIES) });
    const other = await again.register();
    expect(other.user.id).toBeGreaterThan(person.user.id);
    const endpoint = await other.client.call('createEndpoint', { body: {} });
    await fetch(`${again.origin}/h/${endpoint.uid}`, { method: 'POST', body: 'new' });
    const saved = await other.client.call('saveRequest', { params: { uid: endpoint.uid }, body: { index: 0 } });
    expect(saved.id).toBeGreaterThan(1);
  });
});

/** The same row as PostgreSQL's driver returns it: bytes as Buffer, 64-bit integers as text, others as numbers. */
function asPostgres(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, comparable(value)]));
}

function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value);
  return typeof value === 'bigint' ? expect.toSatisfy((other: unknown) => String(other) === String(value)) : value;
}
