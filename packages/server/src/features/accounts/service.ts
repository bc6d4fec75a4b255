import type { Background } from '../../workers/background.ts';
import type { Config } from '../../config.ts';
import type { Mailer } from '../mail/service.ts';
import type { Remote } from '../../database/remote.ts';
import type { accountQueries } from './queries.ts';
import { KnownBrowsers } from './known-browsers.ts';
import { MailedLinks } from './mailed-links.ts';
import type { Passwords } from './passwords.ts';
import { Sessions } from './sessions.ts';
import { ProviderLogin } from './provider-login.ts';
import { Provider } from './provider.ts';
import { randomToken } from '../../secrets.ts';
import { Login } from './login.ts';
import { Throttle } from './throttle.ts';
import type { User } from '@creel/contract';
import type { UserRecord } from '../../database/records.ts';

/** The URL that starts a third-party login. */
export const START_PATH = '/auth/oidc/start';

/** The services for users, sessions and logins. */
export type Accounts = Awaited<ReturnType<typeof createAccounts>>;

export interface AccountsOptions {
  readonly store: Remote<typeof accountQueries>;
  readonly config: Config;
  readonly mailer: Mailer | undefined;
  readonly background: Background;
  readonly publicUrl: () => string;
  readonly passwords: Passwords;
  readonly now: () => number;
}

/** The generated secret is stored in the database, so that every process signs and encrypts with the same one. */
export async function createAccounts(options: AccountsOptions) {
  const { store, config, mailer, background, publicUrl, passwords, now } = options;
  const secret = await store.keepSecret('accounts', randomToken());
  const throttle = new Throttle(store, secret, config.signupsPerHour, now);
  const knownBrowsers = new KnownBrowsers(secret, now);
  return {
    sessions: new Sessions(store, now),
    passwords,
    throttle,
    knownBrowsers,
    login: new Login({ store, config, passwords, throttle, knownBrowsers, now }),
    links: new MailedLinks({ store, mailer, passwords, throttle, background, publicUrl, now }),
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
    subscriptionEndDate: user.subscriptionEndAt === null ? null : new Date(user.subscriptionEndAt).toISOString(),
    billingInterval: user.billingInterval,
    stripeCustomerId: user.stripeCustomerId,
    stripeSubscriptionId: user.stripeSubscriptionId,
    settings: user.settings,
    emailVerified: user.emailVerified,
    hasPassword: user.passwordHash !== null,
  };
}
