import { createHmac } from 'node:crypto';
import { addressBlock } from '../../http/client-address.ts';
import { ProblemError } from '../../http/problem.ts';
import { latestBlock } from './throttle-queries.ts';
import type { ThrottleRule, throttleQueries } from './throttle-queries.ts';
import type { Remote } from '../../database/remote.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** 10 in 15 minutes, then one more after 1, 2, 4… minutes up to an hour. Reset a day after the last. */
const GUESSES: ThrottleRule = {
  attempts: 10,
  windowMs: 15 * MINUTE_MS,
  growing: { firstMs: MINUTE_MS, maxMs: HOUR_MS, forgetMs: 24 * HOUR_MS },
};

/** Milliseconds that an emailed link is valid. */
export const LINK_MS = 30 * MINUTE_MS;

const perHour = (attempts: number) => ({ attempts, windowMs: HOUR_MS });
/** The subject is a client address, of which `addressBlock` counts. */
const perAddress = (attempts: number) => ({ ...perHour(attempts), isPerAddress: true });

/** The rate limits by subject. `signupsPerHour`: `SIGNUPS_PER_HOUR`. */
const rulesOf = (signupsPerHour: number) => ({
  /** New accounts per client address. */
  signUp: perAddress(signupsPerHour),
  /**
   * Rejected usernames and addresses that are taken, per client address or user, because each rejection reveals an
   * account. Ten per account that an address may create.
   */
  takenName: perAddress(10 * signupsPerHour),
  /** Failed logins per username as typed, whether or not the account exists. */
  signInName: GUESSES,
  /** Failed logins per client address. */
  signInAddress: perAddress(100),
  /** Wrong passwords of a logged-in user. */
  confirmPassword: GUESSES,
  /** Test emails, per user and per client address. */
  testMail: perHour(5),
  testMailAddress: perAddress(30),
  /** Callbacks without a valid proof, per client address: each one makes the server call the provider. */
  providerAnswer: perAddress(100),
  /**
   * Emailed links per recipient and per client address. Earlier links stay valid when the limit is reached, so a
   * stranger's requests can't lock the owner out.
   */
  mailedLink: { attempts: 5, windowMs: LINK_MS },
  mailedLinkAddress: perAddress(30),
});

type ThrottleRules = Readonly<ReturnType<typeof rulesOf>>;

export type RateLimit = ReturnType<Throttle['of']>;

/** Rate limits in the database. They survive a restart and apply across processes. */
export class Throttle {
  readonly #store: Remote<typeof throttleQueries>;
  readonly #secret: string;
  readonly #rules: ThrottleRules;
  readonly #now: () => number;

  constructor(store: Remote<typeof throttleQueries>, secret: string, signupsPerHour: number, now: () => number) {
    this.#store = store;
    this.#secret = secret;
    this.#rules = rulesOf(signupsPerHour);
    this.#now = now;
  }

  /** Checks several limits at once. @throws ProblemError RATE_LIMITED when one is reached */
  async check(limits: readonly RateLimit[]): Promise<void> {
    if (limits.length === 0) return;
    const keys = limits.map(({ key }) => key);
    const latest = Math.max(...limits.map(({ rule }) => latestBlock(rule, this.#now())));
    const wait = (await this.#store.findBlock(keys, latest)) - this.#now();
    if (wait > 0) throw tooMany(wait);
  }

  /** The limit of one subject: a username, a client address, an email address or a user's id. */
  of(name: keyof ThrottleRules, given: string) {
    const rule = this.#rules[name];
    const subject = 'isPerAddress' in rule ? addressBlock(given) : given;
    // Hashed with a key: users type passwords into the username field by mistake, and addresses are personal data.
    const key = `${name}:${createHmac('sha256', this.#secret).update(`${name}:${subject}`).digest('base64url')}`;
    return {
      key,
      rule,
      /** Counts one. @throws ProblemError RATE_LIMITED when the limit is reached */
      consume: async (): Promise<void> => {
        const until = await this.#store.consumeAttempt(key, rule, this.#now());
        if (until !== undefined) throw tooMany(until - this.#now());
      },
      refund: () => this.#store.refundAttempt(key, rule),
      reset: () => this.#store.resetAttempts(key),
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
