import { statSync } from 'node:fs';
import { StorageUnavailable } from '../storage-problem.ts';
import { databaseFile } from './open-database.ts';

/** Milliseconds between two checks of the files. */
const CHECK_MS = 250;

/** The identity of the file at a path; `undefined` when there is none. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}

/**
 * The files that SQLite has open. When one of them is removed or replaced, commits still succeed, but into a file that no program
 * opens again. Writing is allowed again when the same files are back.
 */
export class DatabaseFiles {
  readonly #identities: ReadonlyMap<string, string>;
  #checkedAt = performance.now();
  #missing: string | undefined;

  /** Records the current files. Call it while the database is open. */
  constructor(dataDir: string) {
    const file = databaseFile(dataDir);
    const identities = [file, `${file}-wal`, `${file}-shm`].map((path) => [path, identityOf(path)] as const);
    this.#identities = new Map(
      identities.flatMap(([path, identity]) => (identity === undefined ? [] : [[path, identity]])),
    );
  }

  /** The file that was removed or replaced, as of the last check. */
  get missing(): string | undefined {
    return this.#missing;
  }

  /**
   * Checks the files again if the last check is too old. @throws StorageUnavailable when one was removed or replaced
   */
  check(): void {
    if (performance.now() - this.#checkedAt >= CHECK_MS) this.look();
    if (this.#missing === undefined) return;
    throw new StorageUnavailable(`The file ${this.#missing} was removed or replaced.`, { reason: 'file-replaced' });
  }

  look(): void {
    this.#checkedAt = performance.now();
    this.#missing = undefined;
    for (const [path, identity] of this.#identities) {
      if (this.#missing === undefined && identityOf(path) !== identity) this.#missing = path;
    }
  }
}
