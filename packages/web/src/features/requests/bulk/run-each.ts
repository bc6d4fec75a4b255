const MAX_PARALLEL_CALLS = 4;

/** How many items run at a time, and when the run ends early. */
export interface RunEachOptions {
  /** After an abort, no further item is started. */
  readonly signal?: AbortSignal;
  /** Called after each item with the number of finished ones. */
  readonly onProgress?: (done: number) => void;
  /** True for an error that all further items would also have. It ends the run. */
  readonly isFatal?: (error: unknown) => boolean;
  /** Items at a time; 4 by default. */
  readonly parallel?: number;
}

/**
 * Runs an action on many items, a few at a time. Never rejects because of an item. `done` is the number of items that
 * were started and have ended, with or without an error. `unstarted` are the items after an abort or a fatal error.
 */
export async function runEach<T>(
  items: readonly T[],
  act: (item: T) => Promise<void>,
  { signal, onProgress, isFatal, parallel = MAX_PARALLEL_CALLS }: RunEachOptions = {},
) {
  const failed: { item: T; error: unknown }[] = [];
  let next = 0;
  let done = 0;
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver && signal?.aborted !== true) {
      const item = items[next++];
      if (item === undefined) return;
      try {
        await act(item);
      } catch (error) {
        failed.push({ item, error });
        isOver ||= isFatal?.(error) === true;
      }
      done++;
      onProgress?.(done);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { done, failed, unstarted: items.slice(next) };
}

/** Requests of one call, few enough that the progress moves. */
const REQUESTS_PER_CALL = 500;

/**
 * Like `runEach` for parts of many requests. One call follows the other, because captures wait for the transactions of
 * each. `onProgress` gets the number of requests in the parts that succeeded.
 */
export function runInParts<T>(
  items: readonly T[],
  act: (part: readonly T[]) => Promise<void>,
  { onProgress, ...options }: Omit<RunEachOptions, 'parallel'>,
) {
  const parts = Array.from({ length: Math.ceil(items.length / REQUESTS_PER_CALL) }, (_, part) =>
    items.slice(part * REQUESTS_PER_CALL, (part + 1) * REQUESTS_PER_CALL),
  );
  let done = 0;
  const actOn = async (part: readonly T[]): Promise<void> => {
    await act(part);
    onProgress?.((done += part.length));
  };
  return runEach(parts, actOn, { ...options, parallel: 1 });
}
