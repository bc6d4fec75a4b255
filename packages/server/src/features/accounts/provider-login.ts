import { DEFAULT_USER_SETTINGS, MAX_USERNAME_LENGTH, MIN_USERNAME_LENGTH, sanitizeUsername } from '@creel/contract';
import type { ParsedBody } from '@creel/contract';
import { randomBytes } from 'node:crypto';
import { ProblemError, invalid } from '../../http/problem.ts';
import type { UserRecord } from '../../database/records.ts';
import type { ProvenIdentity } from './identity-queries.ts';
import { truncate } from './provider.ts';
import { PROVIDER_LOGIN_MS } from '../../http/cookies.ts';
import { randomToken, tokenHash } from '../../secrets.ts';
import { mixesScripts } from './username-scripts.ts';
import type { LoginOptions } from './login.ts';

export const NO_EMAIL = 'No email provided from Google account';
/** Usernames to try for a new user before a random one is used. */
const NAME_TRIES = 4;

/** The identity that the browser claims to have received. */
type ClaimedIdentity = ParsedBody<'googleLogin'>;

type ProviderLoginOptions = Pick<LoginOptions, 'store' | 'config' | 'throttle' | 'now'>;

/** Finds or creates the account of an identity that was proved at the provider. */
export class ProviderLogin {
  readonly #options: ProviderLoginOptions;

  constructor(options: ProviderLoginOptions) {
    this.#options = options;
  }

  /** Stores a proven identity, so that any process can continue. Returns the handle for the browser's cookie. */
  async storeProven(proven: ProvenIdentity): Promise<string> {
    const handle = randomToken();
    await this.#options.store.storeProvenIdentity(tokenHash(handle), proven, this.#options.now() + PROVIDER_LOGIN_MS);
    return handle;
  }

  /**
   * The account of an identity that this browser has proved, and the handle that was used up. The browser's claim is
   * only compared with the identities of its handles. @throws ProblemError VALIDATION_FAILED without an email,
   * IDENTITY_NOT_PROVEN, PASSWORD_FIRST, RATE_LIMITED
   */
  async logIn(claimed: ClaimedIdentity, handles: readonly string[], address: string) {
    const { store, now } = this.#options;
    if (!claimed.email) throw invalid({ email: NO_EMAIL });
    for (const handle of handles) {
      const hash = tokenHash(handle);
      const proven = await store.findProvenIdentity(hash, now());
      if (proven === undefined || !isSame(claimed, proven) || !(await store.consumeProvenIdentity(hash))) continue;
      return { user: await this.#accountOf(proven, claimed.email, address), handle };
    }
    throw new ProblemError('IDENTITY_NOT_PROVEN');
  }

  async #accountOf(proven: ProvenIdentity, email: string, address: string): Promise<UserRecord> {
    const { store, now } = this.#options;
    const known = await store.findUserByIdentity(proven);
    if (known !== undefined) return known;
    if ((await store.findUserByEmail(email)) === undefined) {
      const created = await this.#create(proven, email, address);
      if (created !== undefined) return created;
    }
    // Both sides must have verified the address. Otherwise an unverified address would give access to an account
    // without its password.
    if (proven.emailVerified) await store.linkIdentity(proven, email, now());
    const linked = await store.findUserByIdentity(proven);
    if (linked === undefined) throw new ProblemError('PASSWORD_FIRST');
    return linked;
  }

  /** Creates an account; `undefined` when the address or the identity has one already. */
  async #create(proven: ProvenIdentity, email: string, address: string): Promise<UserRecord | undefined> {
    const { store, config, throttle, now } = this.#options;
    const signUps = throttle.of('signUp', address);
    await signUps.consume();
    for (let tried = 0; ; tried += 1) {
      const created = await store.createUser(
        {
          username: suggestName(proven.displayName ?? email, tried),
          email,
          emailVerified: proven.emailVerified,
          passwordHash: null,
          displayName: proven.displayName,
          subscriptionTier: config.defaultTier,
          settings: { ...DEFAULT_USER_SETTINGS, email },
          createdAt: now(),
        },
        proven,
      );
      if ('user' in created) return created.user;
      if (created.taken.some((what) => what !== 'username') || tried > NAME_TRIES) {
        await signUps.refund();
        return undefined;
      }
    }
  }
}

function isSame(claimed: ClaimedIdentity, proven: ProvenIdentity): boolean {
  const isNamed = claimed.displayName !== null && claimed.displayName !== undefined;
  return (
    proven.email !== null &&
    claimed.email === proven.email &&
    claimed.uid === proven.subject &&
    (!isNamed || claimed.displayName === proven.displayName)
  );
}

/** From the user's name: unchanged, then with a number. Random if all are taken or the name mixes scripts. */
function suggestName(name: string, tried: number): string {
  if (tried > NAME_TRIES || mixesScripts(name)) return `user-${randomBytes(8).toString('hex')}`;
  const suffix = tried === 0 ? '' : `-${randomBytes(2).readUInt16BE()}`;
  const cut = truncate(sanitizeUsername(name).trim(), MAX_USERNAME_LENGTH - suffix.length).trim();
  return cut.length < MIN_USERNAME_LENGTH ? `user-${cut}${suffix}` : cut + suffix;
}
