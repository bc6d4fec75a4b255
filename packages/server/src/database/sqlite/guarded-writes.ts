import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { StorageUnavailable } from '../store.ts';
import type { DiskState } from '../store.ts';
import { DiskSpace, isDiskFull } from './disk-space.ts';
import type { WritePurpose } from './disk-space.ts';
import { databaseFile } from './open-database.ts';

/** Milliseconds between two checks of the files. */
const CHECK_MS = 250;

/** The identity of the file at a path; `undefined` when there is none. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}

/**
 * The files that SQLite has open. When one of them is removed or replaced, commits still succeed, but into a file that
 * no program opens again. Writing is allowed again when the same files are back.
 */
class DatabaseFiles {
  readonly #identities: readonly (readonly [path: string, identity: string | undefined])[];
  #checkedAt = performance.now();
  #missing: string | undefined;

  /** Records the current files. Call it while the database is open. */
  constructor(dataDir: string) {
    const file = databaseFile(dataDir);
    this.#identities = [file, `${file}-wal`, `${file}-shm`]
      .map((path) => [path, identityOf(path)] as const)
      .filter(([, identity]) => identity !== undefined);
  }

  /** The file that was removed or replaced, as of the last check. */
  get missing(): string | undefined {
    return this.#missing;
  }

  /** Checks again if the last check is too old. @throws StorageUnavailable when a file was removed or replaced */
  check(): void {
    if (performance.now() - this.#checkedAt >= CHECK_MS) this.refresh();
    if (this.#missing === undefined) return;
    throw new StorageUnavailable(`The file ${this.#missing} was removed or replaced.`, { reason: 'file-replaced' });
  }

  refresh(): void {
    this.#checkedAt = performance.now();
    this.#missing = this.#identities.find(([path, identity]) => identityOf(path) !== identity)?.[0];
  }
}

/** Milliseconds between two checks of the disk while nothing is written. */
const WATCH_MS = 500;
/** Delay in milliseconds before the reserve is created, because a start has more urgent work. */
const RESERVE_AFTER_MS = 1000;

/** Prevents writes to files that were replaced, and keeps room on a full disk for work that frees space. */
export class GuardedWrites {
  readonly #files: DatabaseFiles;
  readonly #space: DiskSpace;
  readonly #onState: (state: DiskState) => void;
  #reported: DiskState | undefined;
  readonly #startedAt = performance.now();
  #watch: NodeJS.Timeout | undefined;

  /** Calls `onState` on each change of the disk's state. */
  constructor(database: DatabaseSync, dataDir: string, onState: (state: DiskState) => void) {
    this.#files = new DatabaseFiles(dataDir);
    this.#space = new DiskSpace(database, dataDir);
    this.#onState = onState;
  }

  /** Starts periodic checks of the disk until it is closed. */
  watch(): void {
    this.#watch = setInterval(() => this.#checkDisk(), WATCH_MS);
    this.#report();
  }

  /**
   * Runs work that is a transaction or can be repeated. @throws StorageUnavailable when the disk is full or the
   * database was removed or replaced
   */
  async run<T>(purpose: WritePurpose, work: () => Promise<T>): Promise<T> {
    try {
      this.#files.check();
      this.#space.prepare(purpose);
      return await work();
    } catch (error) {
      if (!isDiskFull(error) || !this.#space.makeRoom(purpose)) throw this.#unavailable(error);
    }
    try {
      this.#space.prepare(purpose);
      return await work();
    } catch (error) {
      throw this.#unavailable(error);
    } finally {
      this.#report();
    }
  }

  /** Moves the log into the file. */
  checkpoint(): void {
    this.#space.checkpoint();
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    await this.#space.close();
  }

  /** Maps any failure to missing files if that is the cause. */
  #unavailable(error: unknown): unknown {
    this.#files.refresh();
    this.#report();
    if (this.#files.missing !== undefined && !(error instanceof StorageUnavailable))
      return new StorageUnavailable('The files of the database are missing.', {
        cause: error,
        reason: 'file-replaced',
      });
    if (!isDiskFull(error)) return error;
    return new StorageUnavailable(`The disk has no room for this write: ${String(error)}`, {
      cause: error,
      reason: 'disk-full',
    });
  }

  #checkDisk(): void {
    this.#files.refresh();
    if (this.#files.missing === undefined) {
      this.#space.measure();
      if (performance.now() - this.#startedAt >= RESERVE_AFTER_MS) this.#space.takeReserve();
    }
    this.#report();
  }

  #report(): void {
    const state = { ...this.#space.state, missingFile: this.#files.missing };
    if (isDeepStrictEqual(state, this.#reported)) return;
    this.#reported = state;
    this.#onState(state);
  }
}
