import { sql } from 'kysely';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sqliteDatabase } from './engine.ts';
import { DiskSpace, isDiskFull } from './disk-space.ts';
import { openWriter } from './open-database.ts';

const MIB = 1024 * 1024;
let dataDir = '';
let database: DatabaseSync;
/** The simulated disk. SQLite's page limit enforces it, so that the test needs no right to mount one. */
const disk = { freeBytes: 0, bytes: 64 * MIB };

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'creel-space-'));
  database = openWriter(dataDir);
  database.exec('create table rows (id integer primary key, body blob)');
  database.exec('pragma wal_checkpoint(truncate)');
});
afterEach(async () => {
  database.close();
  await rm(dataDir, { recursive: true, force: true });
});

function someSpace(freeBytes: number): DiskSpace {
  disk.freeBytes = freeBytes;
  const statDisk = () => ({ bavail: disk.freeBytes, bfree: disk.freeBytes, blocks: disk.bytes, bsize: 1 });
  return new DiskSpace(database, dataDir, statDisk);
}

function insert(kibibytes: number): void {
  database.prepare('insert into rows (body) values (zeroblob(?))').run(kibibytes * 1024);
}

describe('a quota', () => {
  test('leaves the margin and the reserve, and half of the rest for the log', () => {
    // 8 MiB of reserve, 1 MiB of margin, 2 MiB to write twice.
    someSpace(11 * MIB).prepare('capture');
    insert(900);
    expect(() => insert(900)).toThrow(/full/);
  });

  test('captures are rejected first, then other writes; work that frees space continues', () => {
    const space = someSpace(9 * MIB);
    expect(space.state.isFull).toBe(true);
    expect(() => space.prepare('capture')).toThrow(expect.objectContaining({ reason: 'disk-full' }));
    space.prepare('other');
    expect(() => insert(100)).toThrow(/full/);
    space.prepare('freeing');
    insert(100);
  });

  test('freed pages take captures on a full disk', () => {
    const space = someSpace(100 * MIB);
    insert(4000);
    database.exec('pragma wal_checkpoint(truncate)');
    disk.freeBytes = 0;
    space.measure();
    expect(space.state.isFull).toBe(true);
    database.exec('delete from rows');
    space.measure();
    expect(space.state.isFull).toBe(false);
    space.prepare('capture');
    insert(3000);
  });

  test('the reserve is created when there is room, and given up only for work that frees space', async () => {
    const reserve = join(dataDir, 'creel.reserve');
    const space = someSpace(8 * MIB);
    space.takeReserve();
    await space.close();
    expect(existsSync(reserve)).toBe(false);
    disk.freeBytes = 9 * MIB;
    space.measure();
    space.takeReserve();
    await space.close();
    expect(existsSync(reserve)).toBe(true);
    space.makeRoom('capture');
    expect(existsSync(reserve)).toBe(true);
    space.makeRoom('freeing');
    expect(existsSync(reserve)).toBe(false);
  });
});

test("a transaction that SQLite rolled back fails with the disk's error", async () => {
  const db = sqliteDatabase(database);
  const pages = Number(database.prepare('pragma page_count').get()?.['page_count']);
  database.exec(`pragma max_page_count = ${pages + 2}`);
  const failed = await db
    .transaction()
    .execute((transaction) => sql`insert into rows (body) values (zeroblob(100000))`.execute(transaction))
    .catch((error: unknown) => error);
  expect(isDiskFull(failed)).toBe(true);
  expect(database.isTransaction).toBe(false);
});
