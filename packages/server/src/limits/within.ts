/** Resolves when the work has ended, or after this many milliseconds. Then the work continues. Rejects as the work does. */
export async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await beforeTimer<unknown>(milliseconds, work, (limit) => limit.resolve(undefined));
}

/**
 * Resolves or rejects as `work` does, or rejects with `late()` after this many milliseconds. The work itself continues.
 */
export async function within<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  return beforeTimer(milliseconds, work, (limit) => limit.reject(late()));
}

async function beforeTimer<T>(
  milliseconds: number,
  work: Promise<T>,
  onLate: (limit: PromiseWithResolvers<T>) => void,
): Promise<T> {
  const limit = Promise.withResolvers<T>();
  const timer = setTimeout(() => onLate(limit), milliseconds).unref();
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}
