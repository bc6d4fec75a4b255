import type { Config } from '../../config.ts';
import type { Remote } from '../../database/remote.ts';
import type { accountQueries } from './queries.ts';
import { KnownBrowsers } from './known-browsers.ts';
import { Login } from './login.ts';
import { MailedLinks } from './mailed-links.ts';
import type { MailedLinksOptions } from './mailed-links.ts';
import { ProviderLogin } from './provider-login.ts';
import { Provider } from './provider.ts';
import { randomToken, tokenHash } from '../../secrets.ts';
import { Throttle } from './throttle.ts';
import type { User } from '@creel/contract';
import type { SessionRecord, LoggedIn, UserRecord } from '../../database/records.ts';
import { isoTime } from '../../iso-time.ts';
import { randomBytes } from 'node:crypto';

/** The URL that starts a third-party login. */
export const START_PATH = '/auth/oidc/start';

/** The services for users, sessions and logins. */
export type Accounts = Awaited<ReturnType<typeof createAccounts>>;

interface AccountsOptions extends Omit<MailedLinksOptions, 'throttle'> {
  readonly config: Config;
}

/** The generated secret is stored in the database, so that every process signs and encrypts with the same one. */
export async function createAccounts(options: AccountsOptions) {
  const { store, config, mailer, log, publicUrl, passwords, now } = options;
  const secret = await store.findOrCreateSecret('accounts', randomToken());
  const throttle = new Throttle(store, secret, config.signupsPerHour, now);
  const knownBrowsers = new KnownBrowsers(secret, now);
  return {
    sessions: new Sessions(store, now),
    passwords,
    throttle,
    knownBrowsers,
    login: new Login({ store, config, passwords, throttle, knownBrowsers, now }),
    links: new MailedLinks({ store, mailer, passwords, throttle, log, publicUrl, now }),
    /** `undefined` when no third-party login is configured. */
    provider: config.oidc && new Provider(config.oidc, publicUrl, secret, now),
    providerLogin: new ProviderLogin({ store, config, throttle, now }),
  };
}

/** A user as the API returns it: without the password or anything derived from it (docs/api.md, "Users"). */
export function presentUser(user: UserRecord): User {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    displayName: user.displayName,
    subscriptionTier: user.subscriptionTier,
    subscriptionStatus: user.subscriptionStatus,
    subscriptionEndDate: isoTime(user.subscriptionEndAt),
    billingInterval: user.billingInterval,
    stripeCustomerId: user.stripeCustomerId,
    stripeSubscriptionId: user.stripeSubscriptionId,
    settings: user.settings,
    emailVerified: user.emailVerified,
    thirdPartyOnly: user.passwordHash === null,
  };
}

const DAY_MS = 24 * 3_600_000;
/** A session ends after 30 days without use, or after 90 days. */
const IDLE_MS = 30 * DAY_MS;
const ABSOLUTE_MS = 90 * DAY_MS;
/** Minimum interval between two records of a session's use, to avoid a write per read. */
const TOUCH_EVERY_MS = 5 * 60_000;
const MAX_USER_AGENT = 300;

/** Sessions with random tokens: the browser's cookie has the token, the database its hash. */
class Sessions {
  readonly #store: Remote<typeof accountQueries>;
  readonly #now: () => number;

  constructor(store: Remote<typeof accountQueries>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Starts a session. Returns its token, which is not stored, and the public ids of sessions that ended because the user
   * has too many. `undefined` when the password was changed since the login, or the account does not exist.
   */
  async start(user: UserRecord, client: { userAgent: string; ip: string }) {
    const token = randomToken();
    const now = this.#now();
    const session: SessionRecord = {
      id: randomBytes(12).toString('base64url'),
      userId: user.id,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: now + IDLE_MS,
      userAgent: client.userAgent.slice(0, MAX_USER_AGENT),
      ip: client.ip,
    };
    const ended = await this.#store.createSession(tokenHash(token), session, user.passwordHash);
    return ended && { token, ended };
  }

  /** The user of a token; `undefined` when it is unknown or expired. */
  async find(token: string): Promise<LoggedIn | undefined> {
    const hash = tokenHash(token);
    const now = this.#now();
    const found = await this.#store.findSession(hash, now);
    if (found === undefined) return undefined;
    if (now - found.session.lastSeenAt > TOUCH_EVERY_MS) {
      await this.#store.touchSession(hash, now, Math.min(now + IDLE_MS, found.session.createdAt + ABSOLUTE_MS));
    }
    return found;
  }

  /** Replaces a token, so that a stolen one becomes useless. `undefined` when the session does not exist. */
  async renew(sessionId: string): Promise<string | undefined> {
    const token = randomToken();
    return (await this.#store.renewSession(sessionId, tokenHash(token))) ? token : undefined;
  }

  /** Ends a session. Returns its public id, or `undefined` when there was none. */
  async end(token: string): Promise<string | undefined> {
    return this.#store.endSession(tokenHash(token));
  }
}
