import { createHash } from 'node:crypto';
import type { Remote } from '../../database/remote.ts';
import type { Logger } from '../../log.ts';
import type { OutboxMail, mailQueries } from './queries.ts';
import { MailRefused } from './service.ts';
import type { ComposeNotice, Letter, Mailer } from './service.ts';

/** Mails per round. */
const AT_ONCE = 50;
const RETRY_MS = 60_000;
/** A mail that was claimed this long ago is sent again, because its process died. A mail takes seconds. */
const CLAIM_MS = 120_000;

interface OutboxOptions {
  readonly store: Remote<typeof mailQueries>;
  readonly mailer: Mailer;
  /** One of each feature that writes notices. */
  readonly composers: readonly ComposeNotice[];
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Sends the notices in the outbox, each at least once. A mail is claimed before it is sent, so that no two processes
 * send it. The claim ends, so a crash does not lose it, and its copies have the same Message-ID. A temporary failure
 * releases the claim. True when there may be more.
 */
export async function sendOutbox(options: OutboxOptions, signal: AbortSignal): Promise<boolean> {
  const { store, mailer, log, now } = options;
  for (let sent = 0; sent < AT_ONCE; sent++) {
    const mail = signal.aborted ? undefined : await store.claimMail(now(), now() + CLAIM_MS);
    if (mail === undefined) return false;
    try {
      const letter = await composeMail(mail, options);
      if (letter !== 'unwanted') await mailer.send(letter.to, letter.message, messageIdOf(mail));
    } catch (error) {
      log.warn({ err: error }, 'a notice could not be sent');
      if (!(error instanceof MailRefused && error.isPermanent)) {
        await store.releaseMail(mail.id, now() + RETRY_MS);
        return false;
      }
    }
    await store.removeMail(mail.id);
  }
  return true;
}

/** The same in each try, and different for the same mail of another installation. */
function messageIdOf({ id, content, user }: OutboxMail): string {
  return createHash('sha256').update(`${id} ${user.createdAt} ${content}`).digest('hex').slice(0, 32);
}

/** @throws Error for a notice of a newer version, which a newer node sends later */
async function composeMail(
  { content, user }: OutboxMail,
  { composers, publicUrl }: OutboxOptions,
): Promise<Letter | 'unwanted'> {
  const notice: unknown = JSON.parse(content);
  for (const composeNotice of composers) {
    const letter = await composeNotice(notice, user, publicUrl());
    if (letter !== undefined) return letter;
  }
  throw new Error('This version does not know the notice.');
}
