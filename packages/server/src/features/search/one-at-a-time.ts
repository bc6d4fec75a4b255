import { ProblemError } from '../../http/problem.ts';

/** How many of somebody's calls may wait for their last one. */
const MOST_WAITING = 10;
const RETRY_SECONDS = 1;

interface Line {
  length: number;
  last: Promise<unknown>;
}

/**
 * Runs dear work one by one for each person, and for different people side by side: whoever asks for twenty searches at once waits for
 * their own, and a neighbour for one of them (hardening O2).
 */
export class OneAtATime {
  readonly #lines = new Map<number, Line>();

  /**
   * Runs `work` after the person's earlier work. Work that nobody waits for any more when its turn has come is left out.
   * @throws ProblemError RATE_LIMITED when too many wait already, UNAVAILABLE when it was left out
   */
  async run<T>(person: number, isWanted: () => boolean, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(person) ?? { length: 0, last: Promise.resolve() };
    if (line.length > MOST_WAITING) throw new ProblemError('RATE_LIMITED', { retryAfter: RETRY_SECONDS });
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
