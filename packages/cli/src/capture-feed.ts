import type { CapturedRequest } from '@creel/contract';

/**
 * Handles a capture. It counts as handled when the promise resolves, or when `handled` is called before: an error after that does
 * not repeat the capture.
 */
export type OnCapture = (request: CapturedRequest, handled: () => void) => Promise<void>;

/** Where a feed starts, and where it gets what it missed. */
export interface CaptureFeedOptions {
  /** Lowest index to emit. */
  readonly from: number;
  /** Lowest index of captures that arrive after the start. Missing indexes below it were deleted before. */
  readonly newFrom: number;
  /** Stored requests from one index up to, but not including, another, oldest first. */
  readonly storedBetween: (from: number, below?: number) => AsyncIterable<CapturedRequest>;
  readonly onCapture: OnCapture;
  /** Indexes, both inclusive, of captures that were deleted before the feed could emit them. */
  readonly onDeleted: (first: number, last: number) => Promise<void>;
}

/**
 * Emits every capture once and in the order of indexes. A gap in the indexes is filled from the server before the feed goes on, whatever
 * its cause. Calls must not overlap. After a rejected call, the next call fetches what is missing.
 */
export class CaptureFeed {
  readonly #options: CaptureFeedOptions;
  #next: number;

  constructor(options: CaptureFeedOptions) {
    this.#options = options;
    this.#next = options.from;
  }

  /** Index of the first capture that is not handled. */
  get next(): number {
    return this.#next;
  }

  /** Takes captures that have arrived, oldest first. */
  async take(arrived: readonly CapturedRequest[]): Promise<void> {
    const first = arrived.find((request) => request.index >= this.#next);
    if (first === undefined) return;
    if (first.index > this.#next) await this.#emitStored(first.index);
    for (const request of arrived) await this.#emit(request);
  }

  /** Emits all stored requests that it has not emitted. */
  async catchUp(): Promise<void> {
    await this.#emitStored();
  }

  async #emitStored(below?: number): Promise<void> {
    for await (const request of this.#options.storedBetween(this.#next, below)) await this.#emit(request);
  }

  async #emit(request: CapturedRequest): Promise<void> {
    const { index } = request;
    if (index < this.#next) return;
    const missing = Math.max(this.#next, this.#options.newFrom);
    if (missing < index) await this.#options.onDeleted(missing, index - 1);
    const handled = (): void => void (this.#next = index + 1);
    await this.#options.onCapture(request, handled);
    handled();
  }
}
