import { PLANS, isProvenAddress } from '@creel/contract';
import type { Config } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { MailRefused } from '../mail/mailer.ts';
import type { Mailer } from '../mail/mailer.ts';
import { expiryMessage } from '../mail/notice-messages.ts';
import type { ExpiryNotice, Store } from '../../database/store.ts';

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
 * before it is sent, so that no two send it; what the mail server does not take yet, or there is no time for, is given back and comes
 * again. True when there may be more to do at once.
 */
export async function sendExpiryNotices(options: ExpiryNoticesOptions, signal: AbortSignal): Promise<boolean> {
  const { store, now } = options;
  const claimed = await store.claimExpiryNotices(now(), now() + BEFORE_MS, AT_ONCE);
  const perOwner = [...Map.groupBy(claimed.filter(wantsNotice), ({ user }) => user.email)];
  const left = await sendUntilRefused(options, perOwner, signal);
  await store.releaseExpiryNotices(left.flatMap(([, notices]) => notices));
  return left.length === 0 && claimed.length === AT_ONCE;
}

type OwnersNotices = readonly [email: string, notices: ExpiryNotice[]];

/** Those that are left once the mail server takes no more. */
async function sendUntilRefused(
  { mailer, config, publicUrl, log }: ExpiryNoticesOptions,
  perOwner: readonly OwnersNotices[],
  signal: AbortSignal,
): Promise<readonly OwnersNotices[]> {
  for (const [place, [email, notices]] of perOwner.entries()) {
    if (signal.aborted) return perOwner.slice(place);
    try {
      await mailer.send(email, expiryMessage(notices, publicUrl(), config.expiredRetentionMs));
    } catch (error) {
      log.warn({ err: error }, 'a notice of expiry could not be sent');
      // A mailbox that takes nothing holds nobody else up.
      if (!(error instanceof MailRefused && error.forGood)) return perOwner.slice(place);
    }
  }
  return [];
}

/** Notices go to an address that was proven, and to nobody who is not to get them (spec 6). */
function wantsNotice({ user }: ExpiryNotice): boolean {
  const { emailNotifyExpiry, email } = user.settings;
  return emailNotifyExpiry && PLANS[user.subscriptionTier].emailNotifications && isProvenAddress(user, email);
}
