/** Deterministic random numbers from 0 up to 1, so that a failure can be reproduced. */
export type Dice = {
  readonly roll: () => number;
  /** A whole number from 0 up to, but not including, `below`. */
  readonly below: (below: number) => number;
  /** @throws RangeError when the list is empty */
  readonly pick: <T>(list: readonly T[]) => T;
};

/** A linear congruential generator (the constants of Numerical Recipes), good enough for tests. */
export function makeDice(seed: number): Dice {
  let state = seed >>> 0;
  const roll = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(roll() * limit);
  const pick = <T>(list: readonly T[]): T => {
    const picked = list[below(list.length)];
    if (picked === undefined) throw new RangeError('Nothing to pick from');
    return picked;
  };
  return { roll, below, pick };
}
