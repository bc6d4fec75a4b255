import { setTimeout as sleep } from 'node:timers/promises';

const LATE = Symbol('late');

/** Resolves when the work ends, or after this many milliseconds, and the work continues. Rejects as the work does. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await beforeTimer(milliseconds, work);
}

/** Resolves or rejects as `work` does. Rejects with `late()` after this many milliseconds, and the work continues. */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  const result = await beforeTimer(milliseconds, work);
  if (result === LATE) throw late();
  return result;
}

async function beforeTimer<T>(milliseconds: number, work: Promise<T>): Promise<T | typeof LATE> {
  const limit = Promise.withResolvers<typeof LATE>();
  // The time of a batch may have run out in the queue, and Node warns about negative timeouts.
  const timer = setTimeout(limit.resolve, Math.max(0, milliseconds), LATE).unref();
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}

/** Resolves after this many milliseconds, or when the signal aborts. Does not keep the process alive. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { ref: false, signal }).catch(() => undefined);
}
