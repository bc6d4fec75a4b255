import type { AnswerCount, AttackTarget } from '../sockets.ts';

/** One attack on a server from outside. */
export interface Attack {
  readonly name: string;
  /** What the attacker does, as a table cell. */
  readonly what: string;
  /** Maximum p99 of the neighbor during the attack, in milliseconds; 500 by default. */
  readonly neighborP99Ms?: number;
  /** Path of a call that the neighbor repeats; by default the list of endpoints. */
  readonly neighborCall?: string;
  /** Seconds after which the attacker is killed. */
  readonly maxSeconds: number;
  /**
   * Resolves when the attack is over. The process then exits and its sockets close. The attacker's observations are
   * the responses that were counted in `answers`, or the returned text.
   */
  readonly run: (target: AttackTarget, answers: AnswerCount) => Promise<string | void>;
}
