/** How often something may be tried. Plain data, so that it can be handed to a storage thread. */
export interface ThrottleRule {
  /** Turns per window; the window begins with the first. */
  readonly turns: number;
  readonly windowMs: number;
  /**
   * What happens once the turns are used up. Without it the key is blocked until the window ends. With it, every turn from then on
   * doubles the wait, from `firstMs` up to `mostMs`, and all is forgotten `forgetMs` after the last one.
   */
  readonly growing?: { readonly firstMs: number; readonly mostMs: number; readonly forgetMs: number };
}

/** What is kept of a key. Times in milliseconds. */
export interface ThrottleState {
  readonly count: number;
  readonly blockedUntil: number;
  readonly forgetAt: number;
}

/** The state after one more turn, or `undefined` when the key is blocked. */
export function afterTurn(
  state: ThrottleState | undefined,
  rule: ThrottleRule,
  now: number,
): ThrottleState | undefined {
  const before =
    state !== undefined && now < state.forgetAt ? state : { count: 0, blockedUntil: 0, forgetAt: now + rule.windowMs };
  if (now < before.blockedUntil) return undefined;
  const count = before.count + 1;
  if (count < rule.turns) return { ...before, count };
  if (rule.growing === undefined) return { ...before, count, blockedUntil: before.forgetAt };
  const { firstMs, mostMs, forgetMs } = rule.growing;
  return { count, blockedUntil: now + Math.min(firstMs * 2 ** (count - rule.turns), mostMs), forgetAt: now + forgetMs };
}

/** The state with one turn less. A block that this turn caused ends. */
export function afterReturn(state: ThrottleState, rule: ThrottleRule): ThrottleState {
  const count = Math.max(0, state.count - 1);
  return { ...state, count, blockedUntil: count < rule.turns ? 0 : state.blockedUntil };
}
