import type { Config } from '../../config.ts';
import type { jobQueries } from './queries.ts';
import type { Remote } from '../../database/remote.ts';
import type { Live } from '../live/service.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../database/store.ts';
import { endpointTitle } from '@creel/contract';
import type { EndpointRecord } from '../../database/records.ts';
import { expiryNoticeSchema, wantsExpiryNotice } from './queries.ts';
import { compose, moment } from '../mail/service.ts';
import type { ComposeNotice, Message, Part } from '../mail/service.ts';

/** Rows and endpoints per run. Each step is one short transaction between captures. */
const PURGE_ROWS = 200;
const EXPIRED_ENDPOINTS = 50;

export interface MaintenanceOptions {
  readonly store: Remote<typeof jobQueries> & Pick<Store, 'deleteOldBatches'>;
  readonly config: Pick<Config, 'expiredRetentionMs'>;
  readonly live: Pick<Live, 'publish'>;
  readonly log: Pick<Logger, 'error'>;
  readonly now: () => number;
  /** False while a batch waits in the overflow log: its id may be needed, however old it is. */
  readonly isDrained: () => boolean;
}

/**
 * Deletes expired endpoints, ended sessions and cleared rows. Safe in several processes at once. A failed step is logged,
 * and the others run. True when purging is not finished.
 */
export async function runMaintenance(options: MaintenanceOptions): Promise<boolean> {
  const { store, config, live, log, now, isDrained } = options;
  const attempt = <T>(what: string, step: () => Promise<T>): Promise<T | undefined> =>
    step().catch((error: unknown) => {
      log.error({ err: error }, `maintenance: ${what} failed; the server tries again`);
      return undefined;
    });
  // First, because on a full disk all other work needs the pages that it frees.
  const purged = await attempt('removing cleared requests', () => store.purgeSome(PURGE_ROWS));
  await attempt('deleting ended sessions', () => store.deleteStaleAccountRows(now()));
  if (isDrained()) await attempt('deleting the ids of old batches', async () => store.deleteOldBatches?.());
  const expired = await attempt('deleting expired endpoints', () =>
    store.deleteExpiredEndpoints(now() - config.expiredRetentionMs, EXPIRED_ENDPOINTS),
  );
  for (const endpointId of expired ?? []) live.publish({ kind: 'gone', endpointId });
  return purged === true || expired?.length === EXPIRED_ENDPOINTS;
}

/** How long before the expiry the owner is notified. */
const BEFORE_MS = 24 * 3_600_000;
const EXPIRING_PER_RUN = 50;

/** Writes the notices of endpoints that expire within a day to the mail outbox. True when more are due. */
export async function noticeExpiry(
  store: Pick<Remote<typeof jobQueries>, 'addExpiryNotices'>,
  now: () => number,
): Promise<boolean> {
  return (await store.addExpiryNotices(now(), now() + BEFORE_MS, EXPIRING_PER_RUN)) === EXPIRING_PER_RUN;
}

interface ComposerOptions {
  readonly store: { readonly findEndpoint: (uid: string) => Promise<EndpointRecord | undefined> };
  readonly config: Pick<Config, 'expiredRetentionMs'>;
  readonly now: () => number;
}

/** Makes the email about endpoints that expire. Those that were renewed or deleted meanwhile are left out. */
export function composeExpiryNotice({ store, config, now }: ComposerOptions): ComposeNotice {
  return async (content, user, publicUrl) => {
    const notice = expiryNoticeSchema.safeParse(content);
    if (!notice.success) return undefined;
    if (!wantsExpiryNotice(user)) return 'unwanted';
    const endpoints: ExpiringEndpoint[] = [];
    for (const { uid, expiresAt } of notice.data.endpoints) {
      const endpoint = await store.findEndpoint(uid);
      if (endpoint?.expiresAt === expiresAt && expiresAt > now()) endpoints.push({ ...endpoint, expiresAt });
    }
    if (endpoints.length === 0) return 'unwanted';
    return { to: user.settings.email, message: expiryMessage(endpoints, publicUrl, config.expiredRetentionMs) };
  };
}

type ExpiringEndpoint = Pick<EndpointRecord, 'uid' | 'name'> & { readonly expiresAt: number };

/** The email a day before endpoints expire. `keptMs`: how long an expired endpoint stays visible. */
function expiryMessage(endpoints: readonly ExpiringEndpoint[], publicUrl: string, keptMs: number): Message {
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
