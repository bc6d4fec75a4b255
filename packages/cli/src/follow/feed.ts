import type { CapturedRequest } from '@creel/contract';

export interface FeedOptions {
  /** Lowest index that is wanted. */
  readonly from: number;
  /** Lowest index that may arrive while we look: what is missing below it was gone before. `undefined`: not known. */
  readonly newFrom: number | undefined;
  /** What is stored from one index on and below another, oldest first. */
  readonly storedBetween: (from: number, below?: number) => AsyncIterable<CapturedRequest>;
  readonly show: (request: CapturedRequest) => Promise<void>;
  /** Indexes, both included, that were given to captures which are not stored any more: nobody can show them. */
  readonly tellGone: (first: number, last: number) => Promise<void>;
}

/**
 * Shows every capture once and in order, by index: indexes have no holes but those of requests that are gone (contract 2). Whatever
 * arrives above the next index is preceded by what is stored in between, so that it does not matter why something did not arrive.
 * Calls must not overlap. When one rejects, nothing is lost: what was not shown is fetched with the next.
 */
export class Feed {
  readonly #options: FeedOptions;
  #next: number;
  #newFrom: number | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#next = options.from;
    this.#newFrom = options.newFrom;
  }

  /** Takes what has arrived, oldest first. */
  async take(arrived: readonly CapturedRequest[]): Promise<void> {
    const first = arrived.find((request) => request.index >= this.#next);
    if (first === undefined) return;
    if (first.index > this.#next) await this.#showStored(first.index);
    for (const request of arrived) await this.#show(request);
  }

  /** Shows everything that is stored and was not shown. */
  async catchUp(): Promise<void> {
    await this.#showStored();
  }

  async #showStored(below?: number): Promise<void> {
    for await (const request of this.#options.storedBetween(this.#next, below)) await this.#show(request);
  }

  async #show(request: CapturedRequest): Promise<void> {
    const { index } = request;
    if (index < this.#next) return;
    this.#newFrom ??= index;
    const missing = Math.max(this.#next, this.#newFrom);
    if (missing < index) await this.#options.tellGone(missing, index - 1);
    await this.#options.show(request);
    this.#next = index + 1;
  }
}
