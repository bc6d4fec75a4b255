/** Storage can't be used, and the operator can fix it. The message is a whole sentence. */
export class StorageProblem extends Error {
  override readonly name = 'StorageProblem';
}

/** Why storage is unavailable. `away`: it can't be reached, or has another problem. */
export type UnavailableReason = 'away' | 'disk-full' | 'file-replaced';

/** Storage is unavailable at the moment: unreachable, full, or out of connections. The same call may succeed later. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
  readonly reason: UnavailableReason;

  constructor(message: string, options: ErrorOptions & { readonly reason?: UnavailableReason } = {}) {
    super(message, options);
    this.reason = options.reason ?? 'away';
  }
}

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

/**
 * V8's options for the threads of a database. Their objects are short-lived and small, and V8's default would let each
 * thread grow to 48 MB before it collects.
 */
export const STORAGE_THREAD_LIMITS = { maxYoungGenerationSizeMb: 8 };
