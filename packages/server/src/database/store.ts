import type { PackedCaptures } from './packed-captures.ts';
import type { StoredAs } from './stored-request.ts';

/** Storage can't be used, and the operator can fix it. The message is a whole sentence. */
export class StorageProblem extends Error {
  override readonly name = 'StorageProblem';
}

/** Why storage is unavailable. `unreachable`: it can't be reached, or has another problem. */
export type UnavailableReason = 'unreachable' | 'disk-full' | 'file-replaced';

/** Storage is unavailable at the moment: unreachable, full, or out of connections. The same call may succeed later. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
  readonly reason: UnavailableReason;

  constructor(message: string, options: ErrorOptions & { readonly reason?: UnavailableReason } = {}) {
    super(message, options);
    this.reason = options.reason ?? 'unreachable';
  }
}

/** For a call that the database did not answer within its time limit. */
export const databaseTooLate = (): Error => new StorageUnavailable('The database did not answer in time.');

/** An error of a storage thread, as it crosses to the main thread. */
export interface StorageFailure {
  readonly isProblem: boolean;
  readonly unavailable: UnavailableReason | undefined;
  readonly message: string;
}

/** Carries both errors out of a storage thread. Any other error keeps its text. */
export const STORAGE_ERRORS = {
  encode: (error: unknown): StorageFailure => ({
    isProblem: error instanceof StorageProblem,
    unavailable: error instanceof StorageUnavailable ? error.reason : undefined,
    message: textOf(error),
  }),
  decode({ isProblem, unavailable, message }: StorageFailure): Error {
    if (isProblem) return new StorageProblem(message);
    return unavailable === undefined ? new Error(message) : new StorageUnavailable(message, { reason: unavailable });
  },
  ended: (cause: Error | undefined): Error => cause ?? new StorageUnavailable('The storage thread has ended.'),
};

/** A problem's message is for the operator. Other errors are logged with their names. */
function textOf(error: unknown): string {
  if (error instanceof StorageProblem) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** V8's default would let each thread of a database grow to 48 MB of short-lived objects before it collects. */
export const STORAGE_THREAD_LIMITS = { maxYoungGenerationSizeMb: 8 };

/** Maximum requests per endpoint. */
export interface CaptureLimits {
  readonly maxUnsaved: number;
  readonly maxSaved: number;
}

/** The result of a batch, in its order. */
export interface CaptureOutcome {
  /** The capture's index, or -1 when its endpoint does not exist. */
  readonly indexes: Float64Array<ArrayBuffer>;
  /** The saved request's id, or 0 when it is unsaved. */
  readonly savedIds: Float64Array<ArrayBuffer>;
  /** When each capture was received, or the time of an earlier one of its endpoint, if that is later. */
  readonly receivedAt: Float64Array<ArrayBuffer>;
  /** Endpoints that have more unsaved requests than allowed, because a batch trims a limited number of bytes. */
  readonly overfull?: readonly number[];
  /** The batch's buffer, for reuse. */
  readonly recycled?: ArrayBuffer;
}

/** What the capture at this position of the batch became; `undefined` when its endpoint does not exist. */
export function storedAs({ indexes, savedIds, receivedAt }: CaptureOutcome, position: number): StoredAs | undefined {
  const index = indexes[position] ?? -1;
  if (index < 0) return undefined;
  return { index, savedId: savedIds[position] || null, receivedAt: receivedAt[position] ?? 0 };
}

export interface CaptureStore {
  /**
   * Stores a batch in one transaction. Resolves after it is committed and synced to disk. Batches are written in the
   * order of the calls. A batch whose id is already stored is not stored again. PostgreSQL fails after `withinMs`
   * milliseconds; the batch may then be stored nevertheless, once.
   */
  writeCaptures(batch: PackedCaptures, limits: CaptureLimits, withinMs?: number): Promise<CaptureOutcome>;
  /** Moves large batches from SQLite's log into the file, which their commits left undone. */
  readonly checkpoint?: () => Promise<void>;
}

/** Stored captures of the overflow log. Batches that were not stored before are joined into one. */
export interface DrainedBatch {
  readonly batch: PackedCaptures;
  readonly outcome: CaptureOutcome;
}

/** Writes batches of the overflow log, beside those of the senders. */
export interface DrainStore {
  /** Stores batches together, in order and each of them once. @throws StorageUnavailable; then none was stored */
  writeLogged(batches: readonly PackedCaptures[], limits: CaptureLimits, withinMs: number): Promise<DrainedBatch[]>;
  /** Resolves when batches can be stored durably. @throws StorageUnavailable or StorageProblem */
  check(withinMs: number): Promise<void>;
}

/** The state of the data folder's disk. */
export interface DiskState {
  readonly freeBytes: number;
  /** The part of the disk that is in use, from 0 to 1, as `df` counts it. 0 if the file system reports no size. */
  readonly usedShare: number;
  /** Captures are rejected until there is room. Calls that free space work. */
  readonly isFull: boolean;
  /** A database file that was removed or replaced while open. Nothing is written. */
  readonly missingFile: string | undefined;
}

/** What a database does besides the queries of the features. SQLite and PostgreSQL implement it. */
export interface Store extends CaptureStore {
  /** Calls back with the state of the disk and each change of it. Only for a database in the data folder. */
  readonly watchDisk?: (onState: (state: DiskState) => void) => void;
  /** Resolves when the database can store a capture; throws otherwise. */
  checkWritable(): Promise<void>;
  /** True if other processes may write to the same database. */
  readonly shared: boolean;
  /** Deletes the ids of old batches. Only for databases that store them; `undefined` otherwise. */
  readonly deleteOldBatches?: () => Promise<void>;
  /** For batches from the overflow log. Only for databases that may be unavailable. */
  readonly drain?: DrainStore;
  close(): Promise<void>;
}
