import type { Tier, UserSettings } from '@creel/contract';
import type { ThrottleRule } from './throttle-rule.ts';

export interface UserRecord {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly passwordHash: string | null;
  readonly displayName: string | null;
  readonly subscriptionTier: Tier;
  readonly subscriptionStatus: string;
  readonly subscriptionEndAt: number | null;
  readonly billingInterval: 'monthly' | 'yearly' | null;
  readonly stripeCustomerId: string | null;
  readonly stripeSubscriptionId: string | null;
  readonly settings: UserSettings;
  readonly createdAt: number;
}

export interface NewUser {
  readonly username: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly passwordHash: string | null;
  readonly displayName: string | null;
  readonly subscriptionTier: Tier;
  readonly settings: UserSettings;
  readonly createdAt: number;
}

export interface SessionRecord {
  readonly id: string;
  readonly userId: number;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly userAgent: string;
  readonly ip: string;
}

/** An identity at a third party. `subject` is unique only together with its issuer (OpenID Connect Core 5.7). */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** An identity that a browser has just proved at the provider. */
export interface ProvenIdentity extends Identity {
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly displayName: string | null;
}

/** Accounts: users, their settings, sessions, identities and links. */
export interface AccountStore extends SessionStore, IdentityStore, MailTokenStore, ThrottleStore {
  /**
   * Creates a user, linked to `identity` if given. `taken` lists the values that another account already has; it
   * includes `identity` if that is linked already. In that case nothing is created.
   */
  createUser(
    user: NewUser,
    identity?: Identity,
  ): Promise<{ user: UserRecord } | { taken: readonly ('username' | 'email' | 'identity')[] }>;
  findUser(id: number): Promise<UserRecord | undefined>;
  /** Finds a user by name, ignoring case. */
  findUserByName(username: string): Promise<UserRecord | undefined>;
  /** Finds a user by email, ignoring case. */
  findUserByEmail(email: string): Promise<UserRecord | undefined>;
  /** Changes the username; `undefined` when the user does not exist. */
  renameUser(id: number, username: string): Promise<UserRecord | 'taken' | undefined>;
  /**
   * Replaces one password hash with another; false when the current one is not `before`. Mailed links for a new
   * password become invalid.
   */
  replacePassword(id: number, before: string | null, after: string): Promise<boolean>;
  /** False when the user does not exist. */
  saveSettings(id: number, settings: UserSettings): Promise<boolean>;
  /**
   * Deletes a user with sessions, identities, links and endpoints. Captured requests are hidden at once and removed
   * from disk by `purgeSome`. Returns the deleted endpoints, or `undefined` when the user does not exist.
   */
  deleteUser(id: number): Promise<readonly { id: number; uid: string }[] | undefined>;
  /** Returns the secret with this name, the same in every process. If there is none, `candidate` is stored. */
  keepSecret(name: string, candidate: string): Promise<string>;
}

export interface SessionStore {
  /** Starts a session. False when the user does not exist or no longer has the password hash `passwordHash`. */
  createSession(tokenHash: string, session: SessionRecord, passwordHash: string | null): Promise<boolean>;
  /** The session of a token, with its user; `undefined` when it is unknown or expired at `now`. */
  findSession(tokenHash: string, now: number): Promise<{ session: SessionRecord; user: UserRecord } | undefined>;
  /** Sessions that are valid at `now`, newest first. */
  listSessions(userId: number, now: number): Promise<readonly SessionRecord[]>;
  /** Records that the session was used, and its new expiry. */
  touchSession(tokenHash: string, lastSeenAt: number, expiresAt: number): Promise<void>;
  /** Replaces a session's token; the old token becomes invalid. False when the session does not exist. */
  renewSession(id: string, tokenHash: string): Promise<boolean>;
  /** Ends a session. Returns its public id, or `undefined` when there was none. */
  endSession(tokenHash: string): Promise<string | undefined>;
  /** Ends all sessions of a user except the one with this public id. */
  endSessions(userId: number, exceptId?: string): Promise<void>;
}

export interface IdentityStore {
  findUserByIdentity(identity: Identity): Promise<UserRecord | undefined>;
  /**
   * Links the identity to the user with this email, if the user has verified that email. False when not, or when the
   * identity is linked already. The caller checks that the provider has verified it too.
   */
  linkIdentity(identity: Identity, email: string, createdAt: number): Promise<boolean>;
  /** Stores a proven identity under the hash of its handle. */
  keepProvenIdentity(handleHash: string, proven: ProvenIdentity, expiresAt: number): Promise<void>;
  findProvenIdentity(handleHash: string, now: number): Promise<ProvenIdentity | undefined>;
  /** Consumes a proven identity. Of several parallel calls exactly one returns true. */
  useProvenIdentity(handleHash: string): Promise<boolean>;
}

export type MailTokenPurpose = 'reset' | 'verify';

export interface MailTokenStore {
  /**
   * Stores the token of a link that is mailed to the user's current address. Older tokens stay valid, so that a
   * stranger's request cancels nothing.
   */
  createMailToken(tokenHash: string, userId: number, purpose: MailTokenPurpose, expiresAt: number): Promise<void>;
  /** The user of a valid token. Does not consume the token. */
  findMailToken(tokenHash: string, purpose: MailTokenPurpose, now: number): Promise<UserRecord | undefined>;
  /**
   * Sets a password with a mailed token; of several parallel calls one wins and the others get `undefined`. Ends the
   * user's sessions, identities and links. Verifies the address, because the caller has read its mail, and resets
   * `settings.email` to it, because no other address is proven.
   */
  resetPassword(tokenHash: string, passwordHash: string, now: number): Promise<UserRecord | undefined>;
  /** Verifies the user's address with a mailed token. False when the token is unknown or belongs to another user. */
  verifyEmail(tokenHash: string, userId: number, now: number): Promise<boolean>;
}

export interface ThrottleStore {
  /** The keys that have a count, each with the time until which it is blocked (in the past when it is not). */
  findTurns(keys: readonly string[]): Promise<{ key: string; blockedUntil: number }[]>;
  /** Adds one to the count. When the key is blocked, returns until when. Safe under parallel calls. */
  consumeTurn(key: string, rule: ThrottleRule, now: number): Promise<{ blockedUntil: number } | undefined>;
  /** Takes back one turn that turned out not to count. */
  refundTurn(key: string, rule: ThrottleRule): Promise<void>;
  /** Deletes the count. */
  resetTurns(key: string): Promise<void>;
}
