import { MAX_RECENT_STATUSES, isDelivered, isProvenAddress } from '@creel/contract';
import { toUserRecord } from '../../database/records.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { addMail } from '../mail/queries.ts';
import type { Attempt } from './attempt-queries.ts';
import { countFailures, pauseReason } from './delivery-plan.ts';
import { recentStatusesOf, updateDueAt } from './destination-queries.ts';
import type { PausedNotice } from './paused-notice.ts';

/** The destinations of the attempts, in the order of ids. */
export function destinationsOf(attempts: readonly Attempt[]): number[] {
  return [...new Set(attempts.flatMap(({ destinationId }) => destinationId ?? []))].toSorted((a, b) => a - b);
}

/**
 * Counts failures in a row, keeps the latest statuses, and pauses destinations with too many failures. The caller has
 * locked the destinations.
 */
export async function countOutcomes(
  transaction: DatabaseTransaction,
  attempts: readonly Attempt[],
  now: number,
): Promise<void> {
  const ids = destinationsOf(attempts);
  for (const id of ids) {
    const own = attempts.filter((attempt) => attempt.destinationId === id);
    const row = await transaction
      .selectFrom('destinations')
      .innerJoin('endpoints', 'endpoints.id', 'destinations.endpoint_id')
      .select(['destinations.url', 'failures', 'paused_at', 'recent_statuses', 'user_id', 'uid', 'name'])
      .where('destinations.id', '=', id)
      .executeTakeFirst();
    if (row === undefined) continue;
    const statuses = own.map(({ status }) => status);
    const outcome = countFailures(row.failures, statuses.map(isDelivered));
    const recent = [...recentStatusesOf(row), ...statuses].slice(-MAX_RECENT_STATUSES);
    const isNew = outcome.isPaused && row.paused_at === null;
    const reason = pauseReason(failureOf(own.findLast(({ status }) => !isDelivered(status))));
    await transaction
      .updateTable('destinations')
      .set({
        failures: outcome.failures,
        recent_statuses: JSON.stringify(recent),
        ...(isNew ? { paused_at: now, pause_reason: reason } : {}),
      })
      .where('id', '=', id)
      .execute();
    if (isNew) {
      const { url, uid: endpointUid, name: endpointName } = row;
      const notice = { kind: 'destination-paused', url, reason, pausedAt: now, endpointUid, endpointName } as const;
      await addPausedNotice(transaction, row.user_id, notice);
    }
  }
  await updateDueAt(transaction, ids);
}

/** Notices go to an address that its owner has confirmed. */
async function addPausedNotice(transaction: DatabaseTransaction, userId: number, notice: PausedNotice): Promise<void> {
  const row = await transaction.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
  const user = row && toUserRecord(row);
  if (user !== undefined && isProvenAddress(user, user.email)) await addMail(transaction, userId, notice);
}

function failureOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'unknown';
  return attempt.error ?? `${attempt.status ?? ''} ${attempt.statusText}`.trim();
}
