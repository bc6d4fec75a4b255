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

/** Who somebody is to a third party: `subject` means something only together with its issuer (OpenID Connect Core 5.7). */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** What a browser has just proved to the provider. */
export interface ProvenIdentity extends Identity {
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly displayName: string | null;
}

/** Accounts: who there is, what they have set, what goes when they go. */
export interface AccountStore extends SessionStore, IdentityStore, MailTokenStore, ThrottleStore {
  /**
   * Creates a user, signed in through `identity` where one is given. `taken` names what another account has already, by the keys of
   * contract 2; `identity` among them when somebody is signed in through it. Nothing is created then.
   */
  createUser(
    user: NewUser,
    identity?: Identity,
  ): Promise<{ user: UserRecord } | { taken: readonly ('username' | 'email' | 'identity')[] }>;
  findUser(id: number): Promise<UserRecord | undefined>;
  /** By name, without regard to case. */
  findUserByName(username: string): Promise<UserRecord | undefined>;
  /** By email, without regard to case. */
  findUserByEmail(email: string): Promise<UserRecord | undefined>;
  /** Changes the name; `undefined` when the user is gone. */
  renameUser(id: number, username: string): Promise<UserRecord | 'taken' | undefined>;
  /**
   * Puts one password hash in the place of another; false when it is not `before` any more. Links for a new password that were
   * mailed to the user before end with it.
   */
  replacePassword(id: number, before: string | null, after: string): Promise<boolean>;
  /** False when the user is gone. */
  saveSettings(id: number, settings: UserSettings): Promise<boolean>;
  /**
   * Deletes a user with sessions, identities, links and endpoints; their requests go from sight at once and from disk by
   * `purgeSome`. The endpoints that went, or `undefined` when there was no such user.
   */
  deleteUser(id: number): Promise<readonly { id: number; uid: string }[] | undefined>;
  /** The secret of this name, the same in every process: the one that is kept, else `candidate`, which is kept from now on. */
  keepSecret(name: string, candidate: string): Promise<string>;
}

export interface SessionStore {
  /** Starts a session, unless the user is gone or has another password hash than `passwordHash` by now: then false. */
  createSession(tokenHash: string, session: SessionRecord, passwordHash: string | null): Promise<boolean>;
  /** The session behind a token with its user; `undefined` when there is none or it is over at `now`. */
  findSession(tokenHash: string, now: number): Promise<{ session: SessionRecord; user: UserRecord } | undefined>;
  /** Whether a session, by its public id, still holds at `now`. */
  isSessionOpen(id: string, now: number): Promise<boolean>;
  /** Newest first, those that hold at `now`. */
  listSessions(userId: number, now: number): Promise<readonly SessionRecord[]>;
  /** Notes that the session was used, and until when it holds. */
  touchSession(tokenHash: string, lastSeenAt: number, expiresAt: number): Promise<void>;
  /** Gives a session another token: the old one is worth nothing any more. False when there is no such session. */
  renewSession(id: string, tokenHash: string): Promise<boolean>;
  /** Ends a session; the public id of the one that was ended, or `undefined` when there was none. */
  endSession(tokenHash: string): Promise<string | undefined>;
  /** Ends all sessions of a user but the one with this public id. */
  endSessions(userId: number, exceptId?: string): Promise<void>;
}

export interface IdentityStore {
  findUserByIdentity(identity: Identity): Promise<UserRecord | undefined>;
  /**
   * Lets the user with this email sign in through the identity, if that email is verified. False when it is not, or when the
   * identity belongs to somebody already. The caller vouches for the provider's side.
   */
  linkIdentity(identity: Identity, email: string, createdAt: number): Promise<boolean>;
  /** Keeps what a browser has proved under the hash of its handle. */
  keepProvenIdentity(handleHash: string, proven: ProvenIdentity, expiresAt: number): Promise<void>;
  findProvenIdentity(handleHash: string, now: number): Promise<ProvenIdentity | undefined>;
  /** True for exactly one of several calls: who is told so may use it. */
  useProvenIdentity(handleHash: string): Promise<boolean>;
}

export type MailTokenPurpose = 'reset' | 'verify';

export interface MailTokenStore {
  /** Keeps the token of a link that is mailed to the user's present address. Older ones hold on: a stranger's asking cancels nothing. */
  createMailToken(tokenHash: string, userId: number, purpose: MailTokenPurpose, expiresAt: number): Promise<void>;
  /** The user that a token was mailed to, while it holds; finding does not use it up. */
  findMailToken(tokenHash: string, purpose: MailTokenPurpose, now: number): Promise<UserRecord | undefined>;
  /**
   * Sets a password with a token that was mailed to the user's address. One of several calls wins; the others get `undefined`.
   * Sessions, identities and links of the user end with it, and the address is verified: whoever did this has read its mail.
   * Notices go to that address again (`settings.email`): no other has been proven.
   */
  resetPassword(tokenHash: string, passwordHash: string, now: number): Promise<UserRecord | undefined>;
  /** Verifies the user's address with a token that was mailed to it. False when it is nobody's, or somebody else's. */
  verifyEmail(tokenHash: string, userId: number, now: number): Promise<boolean>;
}

export interface ThrottleStore {
  /** Those of the keys for which anything was counted, with the time until which each is blocked: long past when it is not. */
  findTurns(keys: readonly string[]): Promise<{ key: string; blockedUntil: number }[]>;
  /** Counts one more, unless the key is blocked: then until when. Holds under parallel calls. */
  takeTurn(key: string, rule: ThrottleRule, now: number): Promise<{ blockedUntil: number } | undefined>;
  /** Takes back one turn that turned out not to count. */
  giveTurnBack(key: string, rule: ThrottleRule): Promise<void>;
  /** Forgets what was counted. */
  forgetTurns(key: string): Promise<void>;
}
