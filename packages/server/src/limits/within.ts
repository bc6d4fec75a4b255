import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when the work has ended, or after this many milliseconds. Then the work continues. Rejects as the work does. */
export async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, sleep(milliseconds, undefined, { ref: false })]);
}

/**
 * Resolves or rejects as `work` does, or rejects with `late()` after this many milliseconds. The work itself continues.
 */
export async function within<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(late()), milliseconds).unref();
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}
