import { chmod, chown, mkdtemp, readFile, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../migrations/migrate.ts';
import { CapturePacker } from '../packed-captures.ts';
import type { PackedCaptures } from '../packed-captures.ts';
import { StorageProblem } from '../store.ts';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import { compileCache } from '../../../../../fixtures/server-program.ts';
import { hasWritten, startProgram } from '../../../../../fixtures/start-program.ts';
import { LIMITS, T0, captureMany, expectCounted, someEndpoint, someUser } from '../../../test/store-world.ts';
import { sqliteCaptureStatements, commitBatch } from './capture-statements.ts';
import { databaseFile, openWriter, openWriterConnection, withoutSync } from './open-database.ts';
import { openSqliteStore } from './sqlite-store.ts';

const TEST_FOLDER = join(import.meta.dirname, '..', '..', '..', 'test');

/** A user without rights. */
const NOBODY = 65_534;

let dataDir = '';

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'creel-sqlite-'));
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** Opens a folder like the writer's thread does, in this thread, and closes it. */
async function openAndClose(dir = dataDir): Promise<void> {
  const { raw, release } = await openWriterConnection(dir);
  raw.close();
  release();
}

/** The error of opening the folder, as a sentence. */
async function problemOf(dir = dataDir): Promise<string> {
  const error: unknown = await openAndClose(dir).catch((thrown: unknown) => thrown);
  if (!(error instanceof StorageProblem)) throw new Error('It was opened, or failed otherwise.', { cause: error });
  return error.message;
}

/** Runs work on a store in the folder, and closes it. */
async function withStore<T>(work: (store: AppStore) => Promise<T>): Promise<T> {
  const store = await openSqliteStore(dataDir, QUERIES);
  return work(store).finally(() => store.close());
}

describe('an unusable database is left unchanged, with a sentence', () => {
  /** The sentence about a database after a change of its closed file. */
  async function problemAfter(change: (file: string) => void | Promise<void>): Promise<string> {
    await openAndClose();
    const file = databaseFile(dataDir);
    await change(file);
    const before = await readFile(file);
    const sentence = await problemOf();
    expect(before.equals(await readFile(file))).toBe(true);
    return sentence;
  }
  /** Runs a statement and moves it from the log into the file. */
  const executed = (statement: string) => (file: string) => {
    const raw = new DatabaseSync(file);
    raw.exec(statement);
    raw.exec('pragma wal_checkpoint(truncate)');
    raw.close();
  };

  test('not a database', async () => {
    const text = 'This is my thesis, not a database. '.repeat(200);
    await writeFile(databaseFile(dataDir), text);
    expect(await problemOf()).toMatch(/^The database \S+creel\.db can't be opened \(.*\)\. Nothing was changed\./);
    expect(await readFile(databaseFile(dataDir), 'utf8')).toBe(text);
  });

  test('a truncated database', async () => {
    expect(await problemAfter((file) => truncate(file, 3 * 4096 + 100))).toContain("can't be opened");
  });

  test('a database with garbage in its pages', async () => {
    const damage = async (file: string): Promise<void> => writeFile(file, (await readFile(file)).fill(0xa5, 100, 4096));
    expect(await problemAfter(damage)).toContain("can't be opened");
  });

  test("a database whose tables don't match its version", async () => {
    expect(await problemAfter(executed('alter table endpoints drop column trimmed_to'))).toContain(
      'are not those of its version (no such column: trimmed_to)',
    );
  });

  test('a database of a newer version', async () => {
    const newer = executed(`insert into schema_version (version, applied_at) values (999, ${T0})`);
    expect(await problemAfter(newer)).toBe(
      `The database was written by a newer version of Creel (schema 999, this version knows ${MIGRATIONS.at(-1)?.version}). Start the newer version, or restore a backup.`,
    );
  });

  test('a folder that is not writable, or not a folder', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, 'kept');
    expect(await problemOf(file)).toMatch(
      /^The data folder \S+ can't be written \(.*\)\. Set DATA_DIR to a folder that can\.$/,
    );
    expect(await readFile(file, 'utf8')).toBe('kept');
    expect(await problemOf(join(file, 'below'))).toContain("can't be written");
    // Root can write to every folder of a disk, but not to /proc.
    await chmod(dataDir, 0o500);
    expect(await problemOf(process.getuid?.() === 0 ? '/proc/creel' : dataDir)).toContain("can't be written");
    await chmod(dataDir, 0o700);
  });
});

test('every commit of the writer is synced: WAL and synchronous=FULL (2), except within withoutSync', async () => {
  const writer = openWriter(dataDir);
  const level = (): unknown => writer.prepare('pragma synchronous').get();
  expect(writer.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(level()).toEqual({ synchronous: 2 });
  for (let nth = 0; nth < 2; nth += 1) {
    expect(await withoutSync(writer, async () => level())).toEqual({ synchronous: 1 });
    expect(level()).toEqual({ synchronous: 2 });
  }
  const fail = async (): Promise<never> => {
    writer.exec('begin immediate');
    throw new Error('in a transaction');
  };
  await expect(withoutSync(writer, fail)).rejects.toThrow('in a transaction');
  expect(level()).toEqual({ synchronous: 2 });
  writer.close();
});

describe('a data folder belongs to one server', () => {
  test('a second one in the same process is rejected, and accepted after the first is closed', async () => {
    await withStore(async (store) => {
      expect(await problemOf()).toMatch(
        /^Another Creel server is using the data folder \S+\. Stop it, or set DATA_DIR to another folder\.$/,
      );
      // The same error, from the thread.
      await expect(openSqliteStore(dataDir, QUERIES)).rejects.toBeInstanceOf(StorageProblem);
      expect(await someUser(store)).toBeDefined();
    });
    await expect(openAndClose()).resolves.toBeUndefined();
  });

  test('a second one in another process is rejected, and kill -9 leaves nothing to clean up', async () => {
    const other = await startProgram(process.execPath, [join(TEST_FOLDER, 'hold-store.ts'), dataDir], {
      env: compileCache,
      isReady: hasWritten('open'),
    });
    expect(await problemOf()).toContain('Another Creel server');
    await other.kill('SIGKILL');
    await expect(openAndClose()).resolves.toBeUndefined();
  });

  test.each([
    ['a lock file', 'creel.lock', "can't be used"],
    ['a database', 'creel.db', "can't be opened"],
  ])('%s of another user is rejected, because nothing could be locked or stored', async (_, name, sentence) => {
    await openAndClose();
    for (const file of await readdir(dataDir)) await chmod(join(dataDir, file), file === name ? 0o444 : 0o666);
    const isRoot = process.getuid?.() === 0;
    try {
      // Root may write every file.
      if (isRoot) {
        await chown(dataDir, NOBODY, NOBODY);
        process.seteuid?.(NOBODY);
      }
      expect(await problemOf()).toContain(`${name} ${sentence} (attempt to write a readonly database)`);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  test('a link in the place of the lock file gives away no file of root', async () => {
    const target = join(dataDir, 'of-root');
    await writeFile(target, '');
    const { uid } = await stat(target);
    if (process.getuid?.() === 0) await chown(dataDir, NOBODY, NOBODY);
    await symlink(target, join(dataDir, 'creel.lock'));
    await expect(openAndClose()).resolves.toBeUndefined();
    expect(await stat(target)).toMatchObject({ uid });
  });

  test('of eight parallel starts one succeeds, and each migration is applied once', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => openWriterConnection(dataDir)));
    for (const one of tries) if (one.status === 'fulfilled') one.value.release();
    const refused = tries.filter((one) => one.status === 'rejected').map((one): unknown => one.reason);
    expect(refused).toHaveLength(7);
    expect(refused.every((error) => error instanceof StorageProblem)).toBe(true);
    expect(versionsIn(dataDir)).toEqual(MIGRATIONS.map((migration) => migration.version));
  });
});

function versionsIn(dir: string): unknown[] {
  const raw = new DatabaseSync(databaseFile(dir), { readOnly: true });
  const rows = raw.prepare('select version from schema_version order by version').all();
  raw.close();
  return rows.map((row) => row.version);
}

describe('killed during a migration', () => {
  const known = MIGRATIONS.map((migration) => migration.version);
  // All of them with MIGRATIONS=all (CONTRIBUTING.md).
  const killed = process.env['MIGRATIONS'] === 'all' ? known : known.filter((version) => version % 4 === 1);
  test.each(killed)('number %i: the next start completes it', async (version) => {
    const args = [join(TEST_FOLDER, 'interrupted-migration.ts'), dataDir, String(version)];
    const isReady = hasWritten('halfway');
    await (await startProgram(process.execPath, args, { env: compileCache, isReady })).kill('SIGKILL');
    expect(versionsIn(dataDir)).toEqual(known.filter((applied) => applied < version));
    await openAndClose();
    expect(versionsIn(dataDir)).toEqual(known);
  });
});

function batchOf(endpointId: number, count: number): PackedCaptures {
  const packer = new CapturePacker();
  for (let nth = 0; nth < count; nth++) packer.add(endpointId, T0, 'POST', 'text ::1\n/\n', Buffer.alloc(4000, nth));
  return packer.take();
}

test.each([1000, 10])(
  'with room for %i a failure in the middle of a batch leaves nothing of it',
  async (maxUnsaved) => {
    const limits = { ...LIMITS, maxUnsaved };
    const { id, uid } = await withStore(async (store) => {
      const endpoint = await someEndpoint(store);
      await captureMany(store, endpoint.id, 10);
      return endpoint;
    });
    const writer = openWriter(dataDir);
    const statements = sqliteCaptureStatements(writer);
    writer.exec(
      `create trigger fails before insert on captured_requests when new.key & 4294967295 = 12 begin select raise(fail, 'not this one'); end`,
    );
    await expect(commitBatch(writer, statements, batchOf(id, 5), limits)).rejects.toThrow('not this one');
    writer.exec('drop trigger fails');
    const rows = writer.prepare('select key & 4294967295 as "index" from captured_requests order by key').all();
    expect(rows.map((row) => row.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect((await commitBatch(writer, statements, batchOf(id, 5), limits)).indexes).toEqual(
      Float64Array.of(10, 11, 12, 13, 14),
    );
    writer.close();
    const kept = await withStore((store) => expectCounted(store, uid));
    expect(kept).toMatchObject({ unsaved: Math.min(15, maxUnsaved) });
  },
);

describe('a full disk', () => {
  test('rejects the whole batch, keeps existing data, and accepts the next batch when there is room', async () => {
    const { id, uid } = await withStore(async (store) => {
      const endpoint = await someEndpoint(store);
      await captureMany(store, endpoint.id, 10);
      return endpoint;
    });
    const writer = openWriter(dataDir);
    const statements = sqliteCaptureStatements(writer);
    const pages = Number(writer.prepare('pragma page_count').get()?.page_count);
    writer.exec(`pragma max_page_count = ${pages + 30}`);
    await expect(commitBatch(writer, statements, batchOf(id, 500), LIMITS)).rejects.toThrow(/full/);
    expect(writer.isTransaction).toBe(false);
    expect((await commitBatch(writer, statements, batchOf(id, 5), LIMITS)).indexes).toEqual(
      Float64Array.of(10, 11, 12, 13, 14),
    );
    writer.exec('pragma max_page_count = 1000000');
    expect((await commitBatch(writer, statements, batchOf(id, 100), LIMITS)).indexes[0]).toBe(15);
    expect(writer.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    writer.close();
    const kept = await withStore((store) => expectCounted(store, uid));
    expect(kept).toMatchObject({ unsaved: 115 });
    // Closing checkpoints the log into the database.
    expect((await readdir(dataDir)).filter((name) => name.startsWith('creel.db'))).toEqual(['creel.db']);
  });
});

test('a closed store rejects searches and starts no thread', async () => {
  const store = await openSqliteStore(dataDir, QUERIES);
  await store.close();
  await expect(store.searchedEndpoints(1, undefined, undefined)).rejects.toThrow('The storage thread has ended.');
});
