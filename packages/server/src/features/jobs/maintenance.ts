import type { Config } from '../../config.ts';
import type { Live } from '../live/service.ts';
import type { Remote } from '../../database/remote.ts';
import type { Store } from '../../database/store.ts';
import type { jobQueries } from './queries.ts';

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
