import type { Remote } from '../../database/remote.ts';
import type { Logger } from '../../log.ts';
import { MailRefused } from './service.ts';
import type { ComposeNotice, Letter, Mailer } from './service.ts';
import type { OutboxMail, mailQueries } from './queries.ts';

/** Mails per round. */
const AT_ONCE = 50;
const RETRY_MS = 60_000;

export interface OutboxOptions {
  readonly store: Remote<typeof mailQueries>;
  readonly mailer: Mailer;
  /** One of each feature that writes notices. */
  readonly composers: readonly ComposeNotice[];
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Sends the notices in the outbox, each once. A mail is claimed before it is sent, so that no two processes send it and
 * a crash never sends it twice. A temporary failure releases the claim. True when there may be more.
 */
export async function sendOutbox(options: OutboxOptions, signal: AbortSignal): Promise<boolean> {
  const { store, mailer, log, now } = options;
  for (let sent = 0; sent < AT_ONCE; sent++) {
    const mail = signal.aborted ? undefined : await store.claimMail(now());
    if (mail === undefined) return false;
    try {
      const letter = composeMail(mail, options);
      if (letter !== 'unwanted') await mailer.send(letter.to, letter.message);
    } catch (error) {
      log.warn({ err: error }, 'a notice could not be sent');
      if (!(error instanceof MailRefused && error.forGood)) {
        await store.releaseMail(mail.id, now() + RETRY_MS);
        return false;
      }
    }
    await store.removeMail(mail.id);
  }
  return true;
}

/** @throws Error for a notice of a newer version, which a newer node sends later */
function composeMail({ content, user }: OutboxMail, { composers, publicUrl }: OutboxOptions): Letter | 'unwanted' {
  const notice: unknown = JSON.parse(content);
  for (const compose of composers) {
    const letter = compose(notice, user, publicUrl());
    if (letter !== undefined) return letter;
  }
  throw new Error('This version does not know the notice.');
}
