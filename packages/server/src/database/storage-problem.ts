/** Storage can't be used, and the operator can fix it. The message is a whole sentence. */
export class StorageProblem extends Error {
  override readonly name = 'StorageProblem';
}

/** Why storage is unavailable. `away` covers all other reasons. */
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
