import type { AttackTarget } from '../sockets.ts';

/** One way to harm a server from outside. */
export interface Attack {
  readonly name: string;
  /** What the attacker does, as a table cell. */
  readonly what: string;
  /** The neighbor's p99 in milliseconds that the server has to keep meanwhile. */
  readonly neighborP99Ms: number;
  /** Seconds until the attacker is made to leave. */
  readonly maxSeconds: number;
  /** Resolves, with what the attacker saw, when the attack is over. The attacker's process then exits and its sockets close. */
  readonly run: (target: AttackTarget) => Promise<string>;
}
