import type { AttackTarget } from '../sockets.ts';

/** One attack on a server from outside. */
export interface Attack {
  readonly name: string;
  /** What the attacker does, as a table cell. */
  readonly what: string;
  /** Maximum p99 of the neighbor during the attack, in milliseconds. */
  readonly neighborP99Ms: number;
  /** Path of a call that the neighbor repeats; by default the list of endpoints. */
  readonly neighborCall?: string;
  /** Seconds after which the attacker is killed. */
  readonly maxSeconds: number;
  /** Resolves with the attacker's observations when the attack is over. The process then exits and its sockets close. */
  readonly run: (target: AttackTarget) => Promise<string>;
}
