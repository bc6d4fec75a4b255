import { createHmac } from 'node:crypto';
import { ProblemError } from '../../http/problem.ts';
import type { ThrottleRule } from '../../database/throttle-rule.ts';
import type { ThrottleStore } from '../../database/store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** 10 in 15 minutes (contract 4), then one more after 1, 2, 4… minutes and at most an hour; forgotten a day after the last. */
const GUESSES: ThrottleRule = {
  turns: 10,
  windowMs: 15 * MINUTE_MS,
  growing: { firstMs: MINUTE_MS, mostMs: HOUR_MS, forgetMs: 24 * HOUR_MS },
};

/** How long a mailed link holds (issue 3). */
export const LINK_MS = 30 * MINUTE_MS;

const perHour = (turns: number): ThrottleRule => ({ turns, windowMs: HOUR_MS });

/** What is counted, per what, and how often it may be. */
export const THROTTLES = {
  /** Failed sign-ins per username as typed, whether or not there is such an account. */
  signInName: GUESSES,
  /** Failed sign-ins per client address (hardening A2). */
  signInAddress: perHour(100),
  /** Wrong passwords of somebody who is signed in, per user. */
  confirmPassword: GUESSES,
  /** Test mails per user (contract 4) and per client address, however many accounts it makes. */
  testMail: perHour(5),
  testMailAddress: perHour(30),
  /** Ways back from the provider that prove nothing, per client address: each makes the server ask the provider. */
  providerAnswer: perHour(100),
  /**
   * Mailed links per address that they go to, and per client address that asks. Who may not ask for another one has one that holds: no
   * stranger's asking keeps the owner out.
   */
  mailedLink: { turns: 5, windowMs: LINK_MS },
  mailedLinkAddress: perHour(30),
} as const satisfies Record<string, ThrottleRule>;

export type ThrottleName = keyof typeof THROTTLES;

/** One thing that is counted. */
export interface Turns {
  /** As storage knows it. */
  readonly key: string;
  /** Takes one. @throws ProblemError RATE_LIMITED when there are none left */
  take(): Promise<void>;
  giveBack(): Promise<void>;
  /** Forgets all that were taken. */
  forget(): Promise<void>;
}

/** Counts in the database: it survives a restart and holds over several processes. */
export class Throttle {
  readonly #store: ThrottleStore;
  readonly #secret: string;
  readonly #now: () => number;

  constructor(store: ThrottleStore, secret: string, now: () => number) {
    this.#store = store;
    this.#secret = secret;
    this.#now = now;
  }

  of(name: ThrottleName, what: string): Turns {
    return this.#turns(name, THROTTLES[name], what);
  }

  /** New accounts per client address (contract 8, SIGNUPS_PER_HOUR). */
  signUps(perHourLimit: number, address: string): Turns {
    return this.#turns('signUp', perHour(perHourLimit), address);
  }

  /**
   * Names and addresses that were refused because they are taken, per client address or user: each tells who has an account. Ten for
   * each account that an address may make.
   */
  takenNames(perHourLimit: number, who: string): Turns {
    return this.#turns('takenName', perHour(10 * perHourLimit), who);
  }

  /** Looks at several at once. Answers with those of which any was taken. @throws ProblemError RATE_LIMITED when one has none left */
  async check(turns: readonly Turns[]): Promise<readonly Turns[]> {
    if (turns.length === 0) return [];
    const counted = await this.#store.findTurns(turns.map(({ key }) => key));
    const wait = Math.max(0, ...counted.map(({ blockedUntil }) => blockedUntil)) - this.#now();
    if (wait > 0) throw tooMany(wait);
    return turns.filter(({ key }) => counted.some((row) => row.key === key));
  }

  #turns(name: string, rule: ThrottleRule, what: string): Turns {
    // Keyed: people type passwords into the field for the name, and addresses are nobody's business.
    const key = `${name}:${createHmac('sha256', this.#secret).update(`${name}:${what}`).digest('base64url')}`;
    return {
      key,
      take: async () => {
        const until = (await this.#store.takeTurn(key, rule, this.#now()))?.blockedUntil;
        if (until !== undefined) throw tooMany(until - this.#now());
      },
      giveBack: () => this.#store.giveTurnBack(key, rule),
      forget: () => this.#store.forgetTurns(key),
    };
  }
}

function tooMany(waitMs: number): ProblemError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const wait =
    seconds < 90 ? `${seconds} ${seconds === 1 ? 'second' : 'seconds'}` : `${Math.ceil(seconds / 60)} minutes`;
  return new ProblemError('RATE_LIMITED', {
    sentence: `Too many attempts. Please try again in ${wait}.`,
    retryAfter: seconds,
  });
}
