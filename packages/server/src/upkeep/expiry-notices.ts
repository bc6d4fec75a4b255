import { PLANS } from '@creel/contract';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { MailRefused } from '../mail/mailer.ts';
import type { Mailer } from '../mail/mailer.ts';
import { expiryMessage } from '../mail/notice-messages.ts';
import { identityKey } from '../storage/identity-key.ts';
import type { ExpiryNotice, Store, UserRecord } from '../storage/store.ts';

/** How long before an endpoint expires its owner is told. */
const BEFORE_MS = 24 * 3_600_000;
/** Endpoints per round. */
const AT_ONCE = 50;

export interface ExpiryNoticesOptions {
  readonly store: Store;
  readonly mailer: Mailer;
  readonly config: Pick<Config, 'expiredRetentionMs'>;
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Mails owners a day before their endpoints expire, once per expiry, however many processes run (contract 7). A notice is claimed
 * before it is sent, so that no two send it; one that the mail server does not take yet is given back and tried again.
 * True when there may be more to do at once.
 */
export async function sendExpiryNotices(options: ExpiryNoticesOptions): Promise<boolean> {
  const { store, mailer, config, publicUrl, log, now } = options;
  const claimed = await store.claimExpiryNotices(now(), now() + BEFORE_MS, AT_ONCE);
  const open = [...Map.groupBy(claimed.filter(wantsNotice), ({ user }) => user.id).values()];
  for (let mine = open.shift(); mine !== undefined; mine = open.shift()) {
    const [{ user }] = mine as [ExpiryNotice];
    try {
      await mailer.send(user.email, expiryMessage(mine, publicUrl(), config.expiredRetentionMs));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      log.warn({ words: error.words }, 'a notice of expiry could not be sent');
      // This person's mailbox takes nothing; the others are not to wait for it.
      if (error.forGood) continue;
      await store.releaseExpiryNotices([mine, ...open].flat());
      return false;
    }
  }
  return claimed.length === AT_ONCE;
}

/** Notices go to an address that was proven, and to nobody who is not to get them (spec 6). */
function wantsNotice({ user }: ExpiryNotice): boolean {
  const { emailNotifyExpiry, email } = user.settings;
  return emailNotifyExpiry && PLANS[user.subscriptionTier].emailNotifications && isProven(user, email);
}

function isProven(user: UserRecord, email: string): boolean {
  return user.emailVerified && identityKey(email.trim()) === identityKey(user.email);
}
