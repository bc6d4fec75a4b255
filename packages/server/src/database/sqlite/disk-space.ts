import { statSync, statfsSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StorageUnavailable } from '../store.ts';
import type { DiskState } from '../store.ts';
import { randomFillSync } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Milliseconds for which a measurement is valid. The reserve covers what other programs write meanwhile. */
const MEASURE_MS = 100;
/** Free bytes that captures leave for all other writes to the log. */
const MARGIN_BYTES = 1024 * 1024;
/** With fewer pages than this for captures, the disk counts as full. */
const MIN_CAPTURE_PAGES = 32;
/** Pages by which freeing work may grow the database: a row in `purges` may split a page. */
const FREEING_PAGES = 64;
/** SQLite's own limit. */
const MAX_PAGES = 4_294_967_294;

/** Blocks of a disk: how many are free for this user and for root, how many there are, and the bytes of each. */
type StatDisk = (dir: string) => {
  readonly bavail: number;
  readonly bfree: number;
  readonly blocks: number;
  readonly bsize: number;
};

/** What a write is for: `capture` stops first on a full disk, `freeing` may use the reserve. */
export type WritePurpose = 'capture' | 'freeing' | 'other';

/** SQLite's FULL, an I/O error of a write (a quota), and the same for the log's index. */
const FULL_CODES: ReadonlySet<number> = new Set([13, 778, 4874]);

/** True for SQLite's error on a full disk, or over a quota. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && FULL_CODES.has(Number(error.errcode));
}

/**
 * Keeps room on the disk (docs/decisions/0007-full-disk.md). The database grows only while a checkpoint can still write
 * all pages of the log to its file. SQLite enforces that through `max_page_count`, and uses free pages first.
 */
export class DiskSpace {
  readonly #database: DatabaseSync;
  readonly #dataDir: string;
  readonly #statDisk: StatDisk;
  readonly #reserve: ReserveFile;
  readonly #pageSize: number;
  #state = { freeBytes: 0, usedShare: 0, isFull: false };
  #measuredAt = Number.NEGATIVE_INFINITY;
  #growthPages = 0;
  #pageCount = 0;

  constructor(database: DatabaseSync, dataDir: string, statDisk: StatDisk = statfsSync) {
    this.#database = database;
    this.#dataDir = dataDir;
    this.#statDisk = statDisk;
    const { blocks, bsize } = statDisk(dataDir);
    this.#reserve = new ReserveFile(dataDir, blocks * bsize);
    this.#pageSize = this.#pragma('page_size');
    // The reserve must hold the log's pages that are not yet in the file, and as much again for deletions.
    const maxPages = Math.floor(this.#reserve.bytes / 2 / this.#pageSize);
    if (maxPages < this.#pragma('wal_autocheckpoint')) this.#database.exec(`pragma wal_autocheckpoint = ${maxPages}`);
    this.measure();
  }

  /** As of the last measurement. Bytes are free for this user, without the reserve. */
  get state(): Omit<DiskState, 'missingFile'> {
    return this.#state;
  }

  /** Sets how far the database may grow for this write. @throws StorageUnavailable for a capture on a full disk */
  prepare(purpose: WritePurpose): void {
    if (performance.now() - this.#measuredAt >= MEASURE_MS) this.measure();
    if (purpose === 'capture' && this.#state.isFull)
      throw new StorageUnavailable('The disk of the data folder is full.', { reason: 'disk-full' });
    if (purpose !== 'freeing' || this.#growthPages >= FREEING_PAGES) return;
    this.#limitPages(this.#pageCount + FREEING_PAGES);
    // The limit applies to this write only.
    this.#measuredAt = Number.NEGATIVE_INFINITY;
  }

  /** After a write failed on a full disk: true when a retry may succeed. */
  makeRoom(purpose: WritePurpose): boolean {
    const isDone = this.checkpoint();
    if ((!isDone || purpose === 'freeing') && this.#reserve.release()) this.checkpoint();
    this.measure();
    return purpose !== 'capture' || !this.#state.isFull;
  }

  /** Recreates the reserve when there is room. */
  takeReserve(): void {
    this.#reserve.take(this.#state.freeBytes - MARGIN_BYTES);
  }

  async close(): Promise<void> {
    await this.#reserve.written();
  }

  measure(): void {
    this.#measuredAt = performance.now();
    const { bavail, bfree, blocks, bsize } = this.#statDisk(this.#dataDir);
    this.#pageCount = this.#pragma('page_count');
    const freeBytes = bavail * bsize;
    // Some network file systems report no size.
    const isKnown = blocks > 0;
    const used = blocks - bfree;
    const { size } = statSync(this.#database.location() ?? '');
    const owed = Math.max(0, this.#pageCount * this.#pageSize - size);
    // Space that the reserve will need is not available for captures.
    const reserved = this.#reserve.isHeld ? 0 : this.#reserve.bytes;
    // Each new page is written twice: to the log, and to the file by a checkpoint.
    const spare = (freeBytes - owed - reserved - MARGIN_BYTES) / 2;
    this.#growthPages = isKnown ? Math.max(0, Math.floor(spare / this.#pageSize)) : MAX_PAGES;
    const isFull = this.#growthPages + this.#pragma('freelist_count') < MIN_CAPTURE_PAGES;
    this.#state = { freeBytes, usedShare: isKnown ? used / (used + bavail) : 0, isFull };
    this.#limitPages(this.#pageCount + this.#growthPages);
  }

  #limitPages(count: number): void {
    this.#database.exec(`pragma max_page_count = ${Math.min(MAX_PAGES, count)}`);
  }

  /** Moves the log into the file, so that the log starts again. False when the file has no room to grow. */
  checkpoint(): boolean {
    try {
      this.#database.exec('pragma wal_checkpoint(passive)');
      return true;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      return false;
    }
  }

  #pragma(name: string): number {
    return Number(this.#database.prepare(`pragma ${name}`).get()?.[name]);
  }
}

const MIB = 1024 * 1024;
/** Twice the size of the log between two checkpoints, so that a checkpoint and many deletions fit. */
const MAX_RESERVE_BYTES = 16 * MIB;
/** Share of a small disk that is reserved. */
const MAX_RESERVE_SHARE = 1 / 8;

/**
 * A file that occupies disk space. It is removed when the disk is full, so that deletions work, and recreated later.
 * Free space alone is not enough, because other programs fill the disk too.
 */
class ReserveFile {
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
    this.#writing = this.#create();
  }

  /** Resolves when no write is running. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async #create(): Promise<void> {
    try {
      await this.#write();
      this.#isHeld = true;
    } catch {
      rmSync(this.#path, { force: true });
    }
    this.#writing = undefined;
  }

  async #write(): Promise<void> {
    // Random, because some file systems store no blocks for zeros.
    const piece = randomFillSync(Buffer.allocUnsafe(MIB));
    await using file = await open(this.#path, 'w', 0o600);
    for (let left = this.bytes; left > 0; left -= MIB) await file.writeFile(piece.subarray(0, Math.min(MIB, left)));
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
