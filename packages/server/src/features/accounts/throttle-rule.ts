/** How often something may be tried. Plain data, so that it can be sent to a storage thread. */
export interface ThrottleRule {
  /** RateLimit per window. The window starts with the first turn. */
  readonly turns: number;
  readonly windowMs: number;
  /**
   * Without it, the key is blocked until the window ends after the turns are used up. With it, every further turn
   * doubles the wait, from `firstMs` to `maxMs`, and the count is deleted `forgetMs` after the last turn.
   */
  readonly growing?: { readonly firstMs: number; readonly maxMs: number; readonly forgetMs: number };
}

/** The stored state of a key. Times in milliseconds. */
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
  const { firstMs, maxMs, forgetMs } = rule.growing;
  return { count, blockedUntil: now + Math.min(firstMs * 2 ** (count - rule.turns), maxMs), forgetAt: now + forgetMs };
}

/** The state with one turn fewer. Removes a block that this turn caused. */
export function afterReturn(state: ThrottleState, rule: ThrottleRule): ThrottleState {
  const count = Math.max(0, state.count - 1);
  return { ...state, count, blockedUntil: count < rule.turns ? 0 : state.blockedUntil };
}
