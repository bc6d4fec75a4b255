import { randomFillSync } from 'node:crypto';
import { rmSync, statSync, statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

const MIB = 1024 * 1024;
/** Twice the size of the log between two checkpoints, so that a checkpoint and many deletions fit. */
const MAX_RESERVE_BYTES = 16 * MIB;
/** Share of a small disk that is reserved. */
const MAX_RESERVE_SHARE = 1 / 8;

/**
 * A file that occupies disk space. It is removed when the disk is full, so that deletions work, and recreated later.
 * Free space alone is not enough, because other programs fill the disk too.
 */
export class ReserveFile {
  readonly bytes: number;
  readonly #path: string;
  #writing: Promise<void> | undefined;
  #isHeld: boolean;

  constructor(dataDir: string, diskBytes: number) {
    this.#path = reserveFile(dataDir);
    this.bytes = Math.min(MAX_RESERVE_BYTES, Math.floor(diskBytes * MAX_RESERVE_SHARE));
    this.#isHeld = (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) >= this.bytes;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Frees the space; false when there is none to free. */
  release(): boolean {
    if (!this.#isHeld) return false;
    this.#isHeld = false;
    rmSync(this.#path, { force: true });
    return true;
  }

  /** Creates the file when there is enough space. A failed write is retried later. */
  take(freeBytes: number): void {
    if (this.#isHeld || this.#writing !== undefined || freeBytes < this.bytes) return;
    this.#writing = this.#write()
      .then(
        () => {
          this.#isHeld = true;
        },
        () => rmSync(this.#path, { force: true }),
      )
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Resolves when no write is running. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    // Random, because some file systems store no blocks for zeros.
    const piece = randomFillSync(Buffer.allocUnsafe(MIB));
    const file = await open(this.#path, 'w', 0o600);
    try {
      for (let left = this.bytes; left > 0; left -= MIB) await file.writeFile(piece.subarray(0, Math.min(MIB, left)));
    } finally {
      await file.close();
    }
  }
}

function reserveFile(dataDir: string): string {
  return join(dataDir, 'creel.reserve');
}

/** Opening a database needs a few hundred kilobytes for its log. On a full disk the reserve is given up for that. */
export function makeRoomToOpen(dataDir: string): void {
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < MIB) rmSync(reserveFile(dataDir), { force: true });
}
