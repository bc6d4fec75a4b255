/** Storage can't be used, for a reason that a person can do something about. The message is a whole sentence. */
export class StorageProblem extends Error {
  override readonly name = 'StorageProblem';
}
