import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { claimDataDir, databaseFile, giveToOwner, openReader, sync } from '../database/sqlite/open-database.ts';
import { codeOf, messageOf } from '../error-code.ts';

/** A command of `creel admin` that can't be carried out, with a sentence for the operator. */
export class AdminProblem extends Error {
  override readonly name = 'AdminProblem';
  /** True if the command line itself is wrong. */
  readonly isUsage: boolean;
  constructor(message: string, { isUsage = false } = {}) {
    super(message);
    this.isUsage = isUsage;
  }
}

/** Pages per step of a backup: all, because it starts again when another process writes between two steps. */
const ALL_PAGES = 0x7fff_ffff;

/**
 * Copies the database to `file` with every request that was acknowledged before the call. The server may run and is not
 * blocked. Returns the number of stored requests in the copy. @throws AdminProblem
 */
export async function backup(dataDir: string, file: string): Promise<number> {
  expectDatabase(dataDir);
  if (existsSync(file)) throw new AdminProblem(`${file} exists. Choose another name.`);
  using database = openReader(dataDir);
  return copyTo(database, file);
}

/**
 * Replaces the database with the backup. Keeps the previous database beside it and returns its path.
 * @throws AdminProblem if the backup is damaged; StorageProblem while a server uses the folder
 */
export async function restore(dataDir: string, file: string): Promise<string | undefined> {
  const mistakes = verify(dataDir, file);
  if (mistakes.length > 0) throw new AdminProblem(`${file} was not restored.\n${mistakes.join('\n')}`);
  using _ = claimDataDir(dataDir);
  using database = new DatabaseSync(file, { readOnly: true });
  const target = databaseFile(dataDir);
  // Only a killed restore leaves one, because this one has the folder.
  removeDatabase(partialOf(target));
  let kept: string | undefined;
  await copyTo(database, target, (copy) => {
    giveToOwner(dataDir, copy);
    kept = keepPrevious(target);
  });
  return kept;
}

/** Where a copy of `file` is written until it is complete. */
const partialOf = (file: string): string => `${file}.partial`;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Copies a database and its log to `file`, which appears when it is complete. Returns its number of requests.
 * @throws AdminProblem while another command writes it
 */
async function copyTo(
  database: DatabaseSync,
  file: string,
  onComplete: (copy: string) => void = () => undefined,
): Promise<number> {
  const partial = partialOf(file);
  using _ = onInterrupt(() => removeDatabase(partial));
  createPartial(partial);
  try {
    await copyDatabase(database, partial, { rate: ALL_PAGES });
    const count = closeFile(partial);
    sync(partial);
    onComplete(partial);
    renameSync(partial, file);
    sync(dirname(file));
    return count;
  } finally {
    removeDatabase(partial);
  }
}

/** Calls `cleanUp` before a signal ends the process. */
function onInterrupt(cleanUp: () => void): Disposable {
  const stopListening = (): void => SIGNALS.forEach((name) => process.off(name, interrupt));
  const interrupt = (signal: NodeJS.Signals): void => {
    cleanUp();
    // Without a listener, the signal ends the process.
    stopListening();
    process.kill(process.pid, signal);
  };
  SIGNALS.forEach((name) => process.on(name, interrupt));
  return { [Symbol.dispose]: stopListening };
}

/** SQLite would create a file that every user of the machine can read. @throws AdminProblem if the file exists */
function createPartial(partial: string): void {
  try {
    closeSync(openSync(partial, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new AdminProblem(
      `${partial} exists. Another backup writes it, or was killed. If none runs, remove the file.`,
    );
  }
  removeLogs(partial);
}

/** Files that SQLite may keep beside a database. It applies such a file to any database with its name. */
const LOGS = ['-wal', '-shm', '-journal'];

function removeLogs(file: string): void {
  for (const suffix of LOGS) rmSync(file + suffix, { force: true });
}

function removeDatabase(file: string): void {
  rmSync(file, { force: true });
  removeLogs(file);
}

/** Links the database to a second name, so that the first name always has a complete database. Returns that name. */
function keepPrevious(file: string): string | undefined {
  const kept = `${file}.before-restore-${new Date().toISOString().replaceAll(':', '-')}`;
  const hasPrevious = existsSync(file);
  if (hasPrevious) {
    finishLog(file);
    linkSync(file, kept);
  }
  // A damaged database keeps its log, and a removed one may have left it.
  for (const suffix of LOGS) if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
  return hasPrevious ? kept : undefined;
}

/** Moves the log into the file. A damaged database keeps its log. */
function finishLog(file: string): void {
  try {
    using database = new DatabaseSync(file);
    // The last connection removes the log when it closes.
    database.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // It is replaced because it is damaged.
  }
}

/** Returns the mistakes in a database file, by default the server's, in sentences. @throws AdminProblem without a file */
export function verify(dataDir: string, file?: string): string[] {
  if (file === undefined) return verifyFile(expectDatabase(dataDir));
  if (!exists(file)) throw new AdminProblem(`There is no database ${file}. Name the file of a backup.`);
  return verifyFile(file);
}

function verifyFile(file: string): string[] {
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    database.exec('begin');
    const pages = rowsOf(database, 'pragma integrity_check')
      .map(({ integrity_check: line }) => String(line))
      .filter((line) => line !== 'ok')
      .map((line) => `The file is damaged: ${line}`);
    return pages.length > 0 ? pages : wrongCounters(database);
  } catch (error) {
    return [`${file} can't be read (${messageOf(error)}).`];
  }
}

/** Endpoints whose counters differ from their stored requests. Cleared requests wait to be purged and don't count. */
const WRONG_COUNTERS = `select e.uid, e.saved_count, e.unsaved_count, count(r.saved_id) as saved,
    count(r.key) - count(r.saved_id) as unsaved
  from endpoints e left join captured_requests r
    on r.key >= e.id * 4294967296 + e.first_index and r.key < (e.id + 1) * 4294967296
  group by e.id having e.saved_count <> saved or e.unsaved_count <> unsaved`;

function wrongCounters(database: DatabaseSync): string[] {
  return rowsOf(database, WRONG_COUNTERS).map(
    (row) =>
      `The endpoint ${String(row['uid'])} counts ${String(row['saved_count'])} saved and ${String(row['unsaved_count'])} unsaved requests, and has ${String(row['saved'])} and ${String(row['unsaved'])}.`,
  );
}

/** Rewrites the file without free pages. @throws StorageProblem while a server uses the folder */
export function vacuumFile(dataDir: string): void {
  const file = expectDatabase(dataDir);
  using _ = claimDataDir(dataDir);
  using database = new DatabaseSync(file);
  database.exec('vacuum; pragma wal_checkpoint(truncate)');
}

/** Ends the write-ahead log, so that the backup is one file. Returns the number of its requests. */
function closeFile(file: string): number {
  using database = new DatabaseSync(file);
  database.exec('pragma journal_mode = delete');
  return Number(rowsOf(database, 'select count(*) as stored from captured_requests')[0]?.['stored']);
}

function rowsOf(database: DatabaseSync, text: string) {
  return database.prepare(text).all();
}

/** Whether there is a file. `existsSync` is also false in a folder that this user may not open. @throws Error then */
export function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Returns the file of the database in the folder. @throws AdminProblem if there is none */
export function expectDatabase(dataDir: string): string {
  const file = databaseFile(dataDir);
  if (!exists(file)) throw new AdminProblem(`There is no database ${file}. Set DATA_DIR to its folder.`);
  return file;
}
