import { identityKey } from '@creel/contract';
import type { Logger } from '../../log.ts';
import { waitAtMost } from '../../limits/timeouts.ts';
import { RunningWork } from '../../workers/background.ts';
import { compose } from '../mail/service.ts';
import type { Mailer, Message } from '../mail/service.ts';
import { ProblemError } from '../../http/problem.ts';
import type { UserRecord } from '../../database/records.ts';
import { randomToken, tokenHash } from '../../secrets.ts';
import type { LoginOptions } from './login.ts';
import { LINK_MS } from './throttle.ts';

export interface MailedLinksOptions extends Pick<LoginOptions, 'store' | 'passwords' | 'throttle' | 'now'> {
  /** `undefined` without SMTP_URL: mail is off. */
  readonly mailer: Mailer | undefined;
  readonly log: Logger;
  /** Base of the links. The request's host header is never used for it. */
  readonly publicUrl: () => string;
}

/** Maximum number of links for a new password that are emailed at a time. More are not emailed. */
const MAX_AT_ONCE = 100;

/** Emailed links that prove ownership of an email address: for password resets and verification. */
export class MailedLinks {
  readonly #options: MailedLinksOptions;
  readonly #mailing = new RunningWork();

  constructor(options: MailedLinksOptions) {
    this.#options = options;
  }

  /**
   * Emails a link for a new password to the account with this address, if there is one. The lookup runs in the
   * background, so that the response time doesn't reveal whether the account exists. @throws ProblemError MAIL_OFF,
   * RATE_LIMITED
   */
  async requestReset(email: string, address: string): Promise<void> {
    const { throttle, log } = this.#options;
    const mailer = this.#mailer();
    await throttle.of('mailedLinkAddress', address).consume();
    await throttle.of('mailedLink', identityKey(email)).consume();
    if (this.#mailing.size >= MAX_AT_ONCE) return log.error('too many links for a new password are being emailed');
    const onFailure = (error: unknown): void => log.error({ err: error }, 'emailing a link for a new password failed');
    this.#mailing.add(this.#mailReset(mailer, email).catch(onFailure));
  }

  async #mailReset(mailer: Mailer, email: string): Promise<void> {
    const user = await this.#options.store.findUserByEmail(email);
    if (user === undefined) return;
    const url = await this.#newLink(user, 'reset', '/auth/reset');
    await mailer.send(user.email, passwordResetMessage(user, url));
  }

  /** Resolves when no link is being emailed in the background, or after `maxMs`. */
  async ended(maxMs: number): Promise<void> {
    await waitAtMost(maxMs, this.#mailing.ended());
  }

  /** Sets a new password with an emailed token. @throws ProblemError LINK_INVALID */
  async resetPassword(token: string, password: string): Promise<UserRecord> {
    const { store, passwords, now } = this.#options;
    const hash = tokenHash(token);
    // Checked first, so that an invalid link costs no hash.
    if ((await store.findMailToken(hash, 'reset', now())) === undefined) throw new ProblemError('LINK_INVALID');
    const user = await store.resetPassword(hash, await passwords.hash(password, { owner: `link ${hash}` }), now());
    if (user === undefined) throw new ProblemError('LINK_INVALID');
    return user;
  }

  /** Emails a link that verifies the user's address. @throws ProblemError MAIL_OFF, RATE_LIMITED; MailRefused */
  async requestVerification(user: UserRecord, address: string): Promise<void> {
    const mailer = this.#mailer();
    const { throttle } = this.#options;
    await throttle.of('mailedLinkAddress', address).consume();
    await throttle.of('mailedLink', `verify:${user.id}`).consume();
    const url = await this.#newLink(user, 'verify', '/auth/verify');
    await mailer.send(user.email, verificationMessage(user, url));
  }

  /**
   * Verifies the address of the logged-in user. The link alone is not enough: a user who registers another person's
   * address must not get it verified by that person's click. @throws ProblemError LINK_INVALID
   */
  async verify(user: UserRecord, token: string): Promise<void> {
    const { store, now } = this.#options;
    if (!(await store.verifyEmail(tokenHash(token), user.id, now()))) throw new ProblemError('LINK_INVALID');
  }

  #mailer(): Mailer {
    if (this.#options.mailer === undefined) throw new ProblemError('MAIL_OFF');
    return this.#options.mailer;
  }

  async #newLink(user: UserRecord, purpose: 'reset' | 'verify', path: string): Promise<string> {
    const { store, publicUrl, now } = this.#options;
    const token = randomToken();
    await store.createMailToken(tokenHash(token), user.id, purpose, now() + LINK_MS);
    return `${publicUrl()}${path}?token=${token}`;
  }
}

const ONCE = 'The link works once, for 30 minutes.';

/** Names that a mail program could turn into a link. */
const LINK_LIKE = /[:/]|\p{L}\.\p{L}{2}/u;

/**
 * The username for an email. Omits a name that looks like a link while the address is unverified. Otherwise a stranger
 * could send the address's owner a link through our mail.
 */
function accountOf({ username, emailVerified }: Owner): string {
  return emailVerified || !LINK_LIKE.test(username) ? `Creel account ${username}` : 'Creel account with this address';
}

type Owner = Pick<UserRecord, 'username' | 'emailVerified'>;

function passwordResetMessage(owner: Owner, url: string): Message {
  return compose('Set a new password for Creel', [
    `A new password was requested for the ${accountOf(owner)}. If you requested it, open this link:`,
    { label: 'Set a new password', url },
    ONCE,
    'If you did not request it, ignore this email: nothing has changed.',
  ]);
}

function verificationMessage(owner: Owner, url: string): Message {
  return compose('Confirm your email address for Creel', [
    `Open this link to confirm that this address belongs to the ${accountOf(owner)}:`,
    { label: 'Confirm email address', url },
    `${ONCE} If you are not logged in, you are asked to log in.`,
    'If you have no such account, ignore this email.',
  ]);
}
