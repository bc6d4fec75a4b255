import { constants, accessSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StorageProblem } from '../storage-problem.ts';

/** Milliseconds that a connection waits for another one's lock. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * WAL with `synchronous=FULL`: a commit returns after its bytes are synced, so what was acknowledged survives a power cut
 * (docs/decisions/0001-acknowledge-after-sync.md). Checkpoints are small and often, so that none of them is felt.
 */
const WRITER_PRAGMAS = [
  // Of a new database: a scan reads half as often as with 4,096, and a batch costs the same.
  'page_size = 8192',
  'journal_mode = WAL',
  'synchronous = FULL',
  // 8 MB. A batch of 50 makes 6% fewer writes than with 500 pages, and 3% more than with 2,000. Where rows are only added, so that a
  // checkpoint has most to do, the slowest of a thousand batches took 8, 13 and 17 ms at best with 500, 1,000 and 2,000.
  'wal_autocheckpoint = 1000',
  'foreign_keys = ON',
  // 16 MB. With 100,000 requests stored, 8, 16 and 32 MB take as many captures a second; what is not here is in the system's cache.
  'cache_size = -16384',
  'temp_store = MEMORY',
];
const READER_PRAGMAS = ['query_only = ON', 'cache_size = -8192', 'temp_store = MEMORY'];

export function databaseFile(dataDir: string): string {
  return join(dataDir, 'creel.db');
}

/**
 * Makes sure that the folder is there, can be written, and is nobody else's: two servers on one file would not know of each
 * other's captures. The lock is the operating system's, so that it ends with the process, however that ends.
 * @throws StorageProblem with a sentence for the person who started the server.
 */
export function claimDataDir(dataDir: string): DatabaseSync {
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new StorageProblem(
      `The data folder ${dataDir} can't be written (${reason(error)}). Set DATA_DIR to a folder that can.`,
    );
  }
  try {
    const lock = new DatabaseSync(join(dataDir, 'creel.lock'), { timeout: 0 });
    lock.exec('pragma locking_mode = exclusive; begin exclusive;');
    return lock;
  } catch (error) {
    if (/locked/.test(reason(error))) {
      throw new StorageProblem(
        `Another Creel server is using the data folder ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
      );
    }
    throw new StorageProblem(
      `The data folder ${dataDir} can't be used (${reason(error)}). Set DATA_DIR to a folder that can be written.`,
    );
  }
}

/** Not by `recursive: true`: where a folder can't be made though its parent is there (/proc), Node tries for ever. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** Opens the writer's connection. A file that is not a database is left as it is. */
export function openWriter(dataDir: string): DatabaseSync {
  const file = databaseFile(dataDir);
  const existed = existsSync(file);
  try {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    for (const pragma of WRITER_PRAGMAS) database.exec(`pragma ${pragma}`);
    if (existed) database.prepare('select count(*) from sqlite_schema').get();
    return database;
  } catch (error) {
    throw new StorageProblem(
      `The database ${file} can't be opened (${reason(error)}). Nothing was changed. Restore a backup, or set DATA_DIR to another folder.`,
    );
  }
}

/** Opens a reader's connection. It can't change anything, and never creates a file in place of one that was removed. */
export function openReader(dataDir: string): DatabaseSync {
  const database = new DatabaseSync(databaseFile(dataDir), { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  for (const pragma of READER_PRAGMAS) database.exec(`pragma ${pragma}`);
  return database;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
