import { identityKey } from '@creel/contract';
import type { Background } from '../jobs/background.ts';
import { passwordResetMessage, verificationMessage } from '../mail/account-messages.ts';
import type { Mailer } from '../mail/mailer.ts';
import { ProblemError } from '../../http/problem.ts';
import type { Store, UserRecord } from '../../database/store.ts';
import { addressBlock } from './address-block.ts';
import type { Passwords } from './passwords.ts';
import { randomToken, tokenHash } from './sessions.ts';
import { LINK_MS } from './throttle.ts';
import type { Throttle } from './throttle.ts';

export interface MailedLinksOptions {
  readonly store: Store;
  /** `undefined` without SMTP_URL: mail is off. */
  readonly mailer: Mailer | undefined;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  readonly background: Background;
  /** Links are made of it, never of what a request says about its host. */
  readonly publicUrl: () => string;
  readonly now: () => number;
}

/** Links that prove who reads an address's mail: for a new password, and to verify the address (hardening A7). */
export class MailedLinks {
  readonly #options: MailedLinksOptions;

  constructor(options: MailedLinksOptions) {
    this.#options = options;
  }

  /**
   * Mails a link for a new password to the account with this address, if there is one. All that depends on it happens in the
   * background: the answer neither says nor shows by its time whether there is. @throws ProblemError MAIL_OFF, RATE_LIMITED
   */
  async requestReset(email: string, address: string): Promise<void> {
    const { store, throttle, background } = this.#options;
    const mailer = this.#mailer();
    await throttle.of('mailedLinkAddress', addressBlock(address)).take();
    await throttle.of('mailedLink', identityKey(email)).take();
    background.run('mailing a link for a new password', async () => {
      const user = await store.findUserByEmail(email);
      if (user === undefined) return;
      const url = await this.#newLink(user, 'reset', '/auth/reset');
      await mailer.send(user.email, passwordResetMessage(user, url));
    });
  }

  /** Sets a new password by a link. @throws ProblemError LINK_INVALID */
  async resetPassword(token: string, password: string): Promise<UserRecord> {
    const { store, passwords, now } = this.#options;
    const hash = tokenHash(token);
    // Looked at first: a link that is nobody's costs no hash.
    if ((await store.findMailToken(hash, 'reset', now())) === undefined) throw new ProblemError('LINK_INVALID');
    const user = await store.resetPassword(hash, await passwords.hash(password, { owner: `link ${hash}` }), now());
    if (user === undefined) throw new ProblemError('LINK_INVALID');
    return user;
  }

  /** Mails a link that verifies the user's address. @throws ProblemError MAIL_OFF, RATE_LIMITED; MailRefused */
  async requestVerification(user: UserRecord, address: string): Promise<void> {
    const mailer = this.#mailer();
    const { throttle } = this.#options;
    await throttle.of('mailedLinkAddress', addressBlock(address)).take();
    await throttle.of('mailedLink', `verify:${user.id}`).take();
    const url = await this.#newLink(user, 'verify', '/auth/verify');
    await mailer.send(user.email, verificationMessage(user, url));
  }

  /**
   * Verifies the address of whoever is signed in. The link alone is not enough: who made an account with somebody else's address
   * must not have it verified by that somebody's click. @throws ProblemError LINK_INVALID
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
