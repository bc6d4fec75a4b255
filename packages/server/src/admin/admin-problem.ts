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
