import { PLANS, isProvenAddress, endpointTitle } from '@creel/contract';
import type { Config } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { moment, MailRefused, compose } from '../mail/service.ts';
import type { Mailer, Message, Part } from '../mail/service.ts';
import type { ExpiryNotice, jobQueries } from './queries.ts';
import type { Remote } from '../../database/remote.ts';
import type { Live } from '../live/service.ts';
import type { Store } from '../../database/store.ts';

/** Rows and endpoints per run. Each step is one short transaction between captures. */
const PURGE_ROWS = 200;
const EXPIRED_ENDPOINTS = 50;

export interface MaintenanceOptions {
  readonly store: Remote<typeof jobQueries> & Pick<Store, 'deleteOldBatches'>;
  readonly config: Config;
  readonly live: Live;
  readonly now: () => number;
  readonly forgetEndpoint: (uid: string) => void;
  /** True when no batch waits in the overflow log. Its id may be needed then, however old it is. */
  readonly isDrained: () => boolean;
}

/**
 * Deletes expired endpoints, ended sessions and cleared rows. Safe in several processes at once. True when purging is
 * not finished.
 */
export async function runMaintenance({
  store,
  config,
  live,
  now,
  forgetEndpoint,
  isDrained,
}: MaintenanceOptions): Promise<boolean> {
  // First, because on a full disk all other work needs the pages that it frees.
  const purged = await store.purgeSome(PURGE_ROWS);
  await store.deleteExpiredSessions(now());
  await store.deleteStaleAccountRows(now());
  if (isDrained()) await store.deleteOldBatches?.();
  const expired = await store.deleteExpiredEndpoints(now() - config.expiredRetentionMs, EXPIRED_ENDPOINTS);
  for (const endpoint of expired) {
    forgetEndpoint(endpoint.uid);
    live.publish(endpoint.id, { type: 'endpoint-deleted' });
  }
  return purged || expired.length === EXPIRED_ENDPOINTS;
}

/** How long before the expiry the owner is notified. */
const BEFORE_MS = 24 * 3_600_000;
/** Endpoints per run. */
const AT_ONCE = 50;

export interface ExpiryNoticesOptions {
  readonly store: Remote<typeof jobQueries>;
  readonly mailer: Mailer;
  readonly config: Pick<Config, 'expiredRetentionMs'>;
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Mails owners a day before their endpoints expire, once per expiry across processes. A notice is claimed before it is
 * sent, so that no two processes send it. Notices that the mail server rejects temporarily, or that run out of time, are
 * released and retried. True when more are due.
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

/** Returns the notices that remain after the mail server accepts no more. */
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
      // A mailbox that rejects mail for good must not block the others.
      if (!(error instanceof MailRefused && error.forGood)) return perOwner.slice(place);
    }
  }
  return [];
}

/** Notices go only to verified addresses of users who want them. */
function wantsNotice({ user }: ExpiryNotice): boolean {
  const { emailNotifyExpiry, email } = user.settings;
  return emailNotifyExpiry && PLANS[user.subscriptionTier].emailNotifications && isProvenAddress(user, email);
}

/** The mail a day before endpoints expire. `keptMs`: how long an expired endpoint stays visible. */
function expiryMessage(endpoints: readonly ExpiryNotice[], publicUrl: string, keptMs: number): Message {
  const [first] = endpoints;
  const one = endpoints.length === 1 && first !== undefined;
  const subject = one
    ? `Your endpoint ${endpointTitle(first)} expires soon`
    : `${endpoints.length} endpoints expire soon`;
  const lines = endpoints.flatMap((endpoint): Part[] => [
    `${endpointTitle(endpoint)} expires on ${moment(endpoint.expiresAt)} UTC.`,
    { label: `Open ${endpointTitle(endpoint)}`, url: `${publicUrl}/endpoints/${endpoint.uid}` },
  ]);
  return compose(subject, [
    ...lines,
    `From then on senders get the answer 410, and nothing new is captured. ${hours(keptMs)} later an expired endpoint is deleted with its requests. A favorite never expires.`,
    'You get this email because notices of expiry are on in your settings:',
    { label: 'Settings', url: `${publicUrl}/settings` },
  ]);
}

function hours(millis: number): string {
  const count = Math.round(millis / 3_600_000);
  if (count % 24 === 0 && count > 0) return count === 24 ? 'A day' : `${count / 24} days`;
  return count === 1 ? 'An hour' : `${count} hours`;
}
