/**
 * Work that yields often, so that the caller can let other work proceed, or stop. A large body takes up to seconds, and the thread
 * serves other users meanwhile.
 */
export type WorkSteps = Generator<undefined, boolean>;

/** Values of a JSON text that are visited between two yields: a few milliseconds at most. */
export const STEPS_PER_YIELD = 4096;

/** Does all of the work at once. */
export function resultOf(steps: WorkSteps): boolean {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
