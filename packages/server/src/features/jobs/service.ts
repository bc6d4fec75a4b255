import type { Config } from '../../config.ts';
import type { jobQueries } from './queries.ts';
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
  /** True when no batch waits in the overflow log. Its id may be needed then, however old it is. */
  readonly isDrained: () => boolean;
}

/**
 * Deletes expired endpoints, ended sessions and cleared rows. Safe in several processes at once. True when purging is
 * not finished.
 */
export async function runMaintenance({ store, config, live, now, isDrained }: MaintenanceOptions): Promise<boolean> {
  // First, because on a full disk all other work needs the pages that it frees.
  const purged = await store.purgeSome(PURGE_ROWS);
  await store.deleteStaleAccountRows(now());
  if (isDrained()) await store.deleteOldBatches?.();
  const expired = await store.deleteExpiredEndpoints(now() - config.expiredRetentionMs, EXPIRED_ENDPOINTS);
  for (const endpointId of expired) live.publish(endpointId, { type: 'endpoint-deleted' });
  return purged || expired.length === EXPIRED_ENDPOINTS;
}

/** How long before the expiry the owner is notified. */
const BEFORE_MS = 24 * 3_600_000;
/** Endpoints per run. */
const AT_ONCE = 50;

/** Writes the notices of endpoints that expire within a day to the mail outbox. True when more are due. */
export async function noticeExpiry(
  store: Pick<Remote<typeof jobQueries>, 'addExpiryNotices'>,
  now: () => number,
): Promise<boolean> {
  return (await store.addExpiryNotices(now(), now() + BEFORE_MS, AT_ONCE)) === AT_ONCE;
}
