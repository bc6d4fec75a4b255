/** Storage can't be used, for a reason that a person can do something about. The message is a whole sentence. */
export class StorageProblem extends Error {
  override readonly name = 'StorageProblem';
}

/** Why storage can't answer: `away` covers what no other reason names. */
export type UnavailableReason = 'away' | 'disk-full' | 'file-replaced';

/** Storage can't answer at the moment: it is away, full, or has no connection left. The same call may work a little later. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
  readonly reason: UnavailableReason;

  constructor(message: string, options: ErrorOptions & { readonly reason?: UnavailableReason } = {}) {
    super(message, options);
    this.reason = options.reason ?? 'away';
  }
}
