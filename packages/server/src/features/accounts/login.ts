import { DEFAULT_USER_SETTINGS, passwordSchema, usernameSchema } from '@creel/contract';
import type { Credentials, Registration } from '@creel/contract';
import type { Config } from '../../config.ts';
import { ProblemError, invalid } from '../../http/problem.ts';
import { usernameKey } from '../../database/records.ts';
import type { UserRecord } from '../../database/records.ts';
import type { Remote } from '../../database/remote.ts';
import type { accountQueries } from './queries.ts';
import type { HashOptions, Passwords } from './passwords.ts';
import type { Throttle, RateLimit } from './throttle.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { MIXED_SCRIPTS, mixesScripts } from './username-scripts.ts';

/** A client that is not authenticated yet. */
export interface Visitor extends HashOptions {
  readonly address: string;
  /** The cookie that `KnownBrowsers` issued. */
  readonly knownBrowser: string | undefined;
}

export interface LoginOptions {
  readonly store: Remote<typeof accountQueries>;
  readonly config: Pick<Config, 'defaultTier'>;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  readonly knownBrowsers: KnownBrowsers;
  readonly now: () => number;
}

/** Error messages by field, for a username or an email that another account has. */
export const TAKEN = { username: 'Username already exists', email: 'Email already exists' } as const;

/** Registration and login with a password, with their rate limits. */
export class Login {
  readonly #options: LoginOptions;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /** Creates an account. @throws ProblemError RATE_LIMITED; VALIDATION_FAILED with the fields that are taken */
  async register(registration: Registration, visitor: Visitor): Promise<UserRecord> {
    const { store, config, passwords, throttle, now } = this.#options;
    if (mixesScripts(registration.username)) throw invalid({ username: MIXED_SCRIPTS });
    const refused = throttle.of('takenName', visitor.address);
    await throttle.check([refused]);
    const signUps = throttle.of('signUp', visitor.address);
    await signUps.consume();
    const created = await store
      .createUser({
        username: registration.username,
        email: registration.email,
        emailVerified: false,
        // Hashes before checking whether the name is taken, so that both cases take the same time.
        passwordHash: await passwords.hash(registration.password, visitor),
        displayName: null,
        subscriptionTier: config.defaultTier,
        settings: { ...DEFAULT_USER_SETTINGS, email: registration.email },
        createdAt: now(),
      })
      .catch(async (error: unknown) => {
        await signUps.refund();
        throw error;
      });
    if ('user' in created) return created.user;
    await signUps.refund();
    await refused.consume();
    throw invalid(
      Object.fromEntries(created.taken.flatMap((field) => (field === 'identity' ? [] : [[field, TAKEN[field]]]))),
    );
  }

  /**
   * The account of a username and password. An unknown username is treated like a wrong password: same counters, same
   * time. @throws ProblemError INVALID_CREDENTIALS, RATE_LIMITED
   */
  async withPassword(credentials: Credentials, visitor: Visitor): Promise<UserRecord> {
    const { username, password } = credentials;
    // No account has such a name or password, so the attempt is not counted and costs no hash.
    if (!usernameSchema.safeParse(username).success || !passwordSchema.safeParse(password).success)
      throw new ProblemError('INVALID_CREDENTIALS');
    const user = await this.#options.store.findUserByName(username);
    const isRight = await this.#isRight(password, user, this.#limitsOf(username, user, visitor), visitor);
    if (!isRight || user === undefined) throw new ProblemError('INVALID_CREDENTIALS');
    return this.#refresh(user, password, visitor);
  }

  /** Asks a logged-in user for the password again. @throws ProblemError RATE_LIMITED */
  async confirmPassword(user: UserRecord, password: string): Promise<boolean> {
    const limit = this.#options.throttle.of('confirmPassword', String(user.id));
    return this.#isRight(password, user, [limit], { owner: `user ${user.id}` });
  }

  /** Resets failed attempts, because the owner has just proved their identity in another way. */
  async resetFailures(user: UserRecord): Promise<void> {
    const { throttle } = this.#options;
    await throttle.of('signInName', usernameKey(user.username)).reset();
    await throttle.of('confirmPassword', String(user.id)).reset();
  }

  /**
   * Checks a password. `limits`: the counters for a failed attempt, the account's first. They are checked before the
   * queue, so that a blocked attempt does not wait for a hash. They are checked again after it, so that parallel
   * guesses get no more attempts than sequential ones.
   */
  async #isRight(
    password: string,
    user: UserRecord | undefined,
    limits: readonly RateLimit[],
    options: HashOptions,
  ): Promise<boolean> {
    const { passwords, throttle } = this.#options;
    await throttle.check(limits);
    return passwords.verify(password, user?.passwordHash, options, {
      afterWaiting: () => throttle.check(limits),
      async after(right) {
        // If parallel guesses used up the limit, this attempt is rejected too and doesn't reveal its result.
        if (!right) return void (await Promise.all(limits.map((limit) => limit.consume())));
        // A correct password resets the account's counter but not the address's, whose other guesses may target other
        // accounts.
        await limits[0]?.reset();
      },
    });
  }

  /** The counters for a failed attempt. In a browser that the owner has used before, nothing is counted. */
  #limitsOf(username: string, user: UserRecord | undefined, visitor: Visitor): RateLimit[] {
    const { throttle, knownBrowsers } = this.#options;
    if (user !== undefined && knownBrowsers.isKnown(user, visitor.knownBrowser)) return [];
    return [throttle.of('signInName', usernameKey(username)), throttle.of('signInAddress', visitor.address)];
  }

  /** Hashes the password again if the parameters have changed since it was set. */
  async #refresh(user: UserRecord, password: string, options: HashOptions): Promise<UserRecord> {
    const { passwords, store } = this.#options;
    if (user.passwordHash === null || !passwords.isOutdated(user.passwordHash)) return user;
    const passwordHash = await passwords.hash(password, options);
    const replaced = await store.replacePassword(user.id, user.passwordHash, passwordHash);
    return replaced ? { ...user, passwordHash } : user;
  }
}
