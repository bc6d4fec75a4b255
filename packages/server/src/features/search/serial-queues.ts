import { ProblemError } from '../../http/problem.ts';

/** Maximum number of waiting calls of one user. */
const MAX_WAITING = 10;
const RETRY_SECONDS = 1;

interface Line {
  length: number;
  last: Promise<unknown>;
}

/**
 * Runs expensive work one by one for each user, and for different users in parallel: a user with twenty searches waits
 * for their own, and other users for at most one of them.
 */
export class SerialQueues {
  readonly #lines = new Map<number, Line>();

  /**
   * Runs `work` after the user's earlier work, and skips it if its caller no longer waits. @throws ProblemError
   * RATE_LIMITED when too many wait, UNAVAILABLE when it was skipped
   */
  async run<T>(person: number, isWanted: () => boolean, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(person) ?? { length: 0, last: Promise.resolve() };
    if (line.length > MAX_WAITING) throw new ProblemError('RATE_LIMITED', { retryAfter: RETRY_SECONDS });
    this.#lines.set(person, line);
    line.length += 1;
    const result = line.last.then(() => {
      if (!isWanted()) throw new ProblemError('UNAVAILABLE');
      return work();
    });
    line.last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      line.length -= 1;
      if (line.length === 0) this.#lines.delete(person);
    }
  }
}
