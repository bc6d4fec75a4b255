import {
  constants,
  accessSync,
  lchownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../error-code.ts';
import { StorageProblem } from '../store.ts';
import { migrate } from '../migrations/migrate.ts';
import type { CaptureStatements } from '../write-captures.ts';
import { sqliteCaptureStatements } from './capture-statements.ts';
import { sqliteDatabase } from './engine.ts';
import { isDiskFull, makeRoomToOpen } from './disk-space.ts';

/** Milliseconds that a connection waits for a lock. */
export const BUSY_TIMEOUT_MS = 5000;

/**
 * WAL with `synchronous=FULL`: a commit returns after its bytes are synced, so acknowledged captures survive a power
 * cut (docs/decisions/0001-acknowledge-after-sync.md). Small, frequent checkpoints avoid long pauses.
 */
const WRITER_PRAGMAS = [
  // Applies to new databases: a scan reads half as often as with 4,096, and a batch costs the same.
  'page_size = 8192',
  'journal_mode = WAL',
  'synchronous = FULL',
  // 8 MB. A batch of 50 makes 6% fewer writes than with 500 pages. 2,000 pages save only 3% more, and slow down the
  // slowest batch.
  'wal_autocheckpoint = 1000',
  'foreign_keys = ON',
  // 16 MB. Capture throughput is the same with 8 and 32 MB, because the operating system caches the rest.
  'cache_size = -16384',
  'temp_store = MEMORY',
];
const READER_PRAGMAS = ['query_only = ON', 'cache_size = -8192', 'temp_store = MEMORY'];

/** The path of the database in a data folder. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'creel.db');
}

/**
 * Ensures that the folder exists, is writable, and is used by no other server. Two servers on one file would not see
 * each other's captures. The operating system releases the lock when the process ends in any way. @throws
 * StorageProblem with a sentence for the operator.
 */
export function claimDataDir(dataDir: string): DatabaseSync {
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new StorageProblem(
      `The data folder ${dataDir} can't be written (${messageOf(error)}). Set DATA_DIR to a folder that can.`,
    );
  }
  const file = join(dataDir, 'creel.lock');
  try {
    const lock = new DatabaseSync(file, { timeout: 0 });
    giveToOwner(dataDir, file);
    // SQLite opens a file that it can't write as read-only, and then locks nothing. So this begins a write. It stays in
    // memory, because a full disk must not keep the server from starting.
    lock.exec('pragma journal_mode = off; pragma locking_mode = exclusive; begin exclusive; pragma user_version = 1;');
    return lock;
  } catch (error) {
    if (/locked/.test(messageOf(error))) {
      throw new StorageProblem(
        `Another Creel server is using the data folder ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
      );
    }
    throw problem(
      dataDir,
      error,
      `The file ${file} can't be used (${messageOf(error)}). Give it to the user that runs the server, or set DATA_DIR to another folder.`,
    );
  }
}

/** Gives a file that root created to the owner of the folder. Follows no link, which could lead to a file of root. */
export function giveToOwner(dataDir: string, file: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  lchownSync(file, uid, gid);
}

/**
 * Creates one folder at a time, because each new name is synced. With `recursive: true`, Node 26.10 also loops forever
 * when a folder can't be created under an existing parent (/proc).
 */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
  try {
    // Otherwise a power cut could remove the folder with all that is synced in it.
    sync(dirname(folder));
  } catch {
    // Some systems can't open or sync a folder, and SQLite ignores that too.
  }
}

/** Syncs a file, or the names in a folder. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Opens the writer's connection. Leaves a file that is not a database unchanged. */
export function openWriter(dataDir: string): DatabaseSync {
  const file = databaseFile(dataDir);
  const existed = existsSync(file);
  try {
    // SQLite would create a file that every user of the machine can read. Its log takes the mode of the database.
    if (!existed) closeSync(openSync(file, 'wx', 0o600));
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    for (const pragma of WRITER_PRAGMAS) database.exec(`pragma ${pragma}`);
    if (existed) database.prepare('select count(*) from sqlite_schema').get();
    // SQLite opens a file that it can't write as read-only, and says so at the first write.
    database.exec('begin immediate; pragma user_version = 1; rollback');
    return database;
  } catch (error) {
    throw problem(
      dataDir,
      error,
      `The database ${file} can't be opened (${messageOf(error)}). Nothing was changed. Check its owner, restore a backup, or set DATA_DIR to another folder.`,
    );
  }
}

/**
 * Runs work whose commits don't wait for the disk. The next commit with a sync keeps them too, because the log is
 * synced in its order. The store plans one. The pragma takes effect when it is prepared, so it can't be a cached
 * statement.
 */
export async function withoutSync<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
  database.exec('pragma synchronous = NORMAL');
  try {
    return await work();
  } finally {
    // The pragma fails inside a transaction, and a capture must never follow without a sync.
    if (database.isTransaction) database.exec('rollback');
    database.exec('pragma synchronous = FULL');
  }
}

/** Opens a read-only connection. Never creates a file in place of a removed one. */
export function openReader(dataDir: string): DatabaseSync {
  const database = new DatabaseSync(databaseFile(dataDir), { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  for (const pragma of READER_PRAGMAS) database.exec(`pragma ${pragma}`);
  return database;
}

/**
 * Claims a data folder, opens its database and migrates it. `release` releases the folder; the caller closes the
 * database. @throws StorageProblem; then nothing was changed
 */
export async function openWriterConnection(dataDir: string) {
  using opened = new DisposableStack();
  const lock = opened.use(claimDataDir(dataDir));
  makeRoomToOpen(dataDir);
  const raw = opened.use(openWriter(dataDir));
  const db = sqliteDatabase(raw);
  await migrate(db).catch((error: unknown) => {
    throw problem(dataDir, error);
  });
  const statements = statementsOf(raw, dataDir);
  // From here on they stay open.
  opened.move();
  return { raw, db, statements, release: () => lock.close() };
}

/** The error of a failed start: that of a full disk, or one with the sentence, or the error itself. */
function problem(dataDir: string, error: unknown, sentence?: string): unknown {
  if (isDiskFull(error))
    return new StorageProblem(
      `The disk of the data folder ${dataDir} is too full for the server to start. Nothing is lost. Make room on it and start again.`,
    );
  return sentence === undefined ? error : new StorageProblem(sentence);
}

/** Preparing the statements proves that the tables match the version. @throws StorageProblem */
function statementsOf(raw: DatabaseSync, dataDir: string): CaptureStatements {
  try {
    return sqliteCaptureStatements(raw);
  } catch (error) {
    throw new StorageProblem(
      `The tables of the database ${databaseFile(dataDir)} are not those of its version (${messageOf(error)}). Nothing was changed. Restore a backup, or set DATA_DIR to another folder.`,
    );
  }
}
