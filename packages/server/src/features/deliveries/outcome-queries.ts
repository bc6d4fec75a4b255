import { MAX_RECENT_STATUSES, isDelivered, isProvenAddress } from '@creel/contract';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { toUserRecord } from '../../database/records.ts';
import type { DatabaseTransaction, DestinationsTable } from '../../database/schema.ts';
import { addMail } from '../mail/queries.ts';
import type { Attempt } from './attempt-queries.ts';
import { countFailures, pauseReason } from './delivery-plan.ts';
import { dueAtOf, recentStatusesOf } from './destination-queries.ts';

/** The destinations of the attempts, in the order of ids. */
export function destinationsOf(attempts: readonly Attempt[]): number[] {
  return [...new Set(attempts.flatMap(({ destinationId }) => destinationId ?? []))].toSorted((a, b) => a - b);
}

/**
 * Counts failures in a row, keeps the latest statuses, updates when the destinations are due, and pauses those with too
 * many failures. The caller has locked the destinations, and then changed their deliveries.
 */
export async function countOutcomes(
  transaction: DatabaseTransaction,
  destinations: readonly Selectable<DestinationsTable>[],
  attempts: readonly Attempt[],
  now: number,
): Promise<void> {
  for (const row of destinations) {
    const own = attempts.filter((attempt) => attempt.destinationId === row.id);
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
        ...(isNew ? { paused_at: now, pause_reason: reason, due_at: null } : { due_at: dueAtOf(row.id) }),
      })
      .where('id', '=', row.id)
      .execute();
    if (isNew) await addPausedNotice(transaction, row, { reason, pausedAt: now });
  }
}

/** A destination that was paused after too many failures in a row. */
export const pausedNoticeSchema = z.object({
  kind: z.literal('destination-paused'),
  url: z.string(),
  reason: z.string(),
  /** Milliseconds since 1970. */
  pausedAt: z.int(),
  endpointUid: z.string(),
  endpointName: z.string().nullable(),
});
type PausedNotice = z.infer<typeof pausedNoticeSchema>;

/** Notices go to an address that its owner has confirmed. */
async function addPausedNotice(
  transaction: DatabaseTransaction,
  { endpoint_id: endpointId, url }: Selectable<DestinationsTable>,
  pause: Pick<PausedNotice, 'reason' | 'pausedAt'>,
): Promise<void> {
  const row = await transaction
    .selectFrom('endpoints')
    .innerJoin('users', 'users.id', 'endpoints.user_id')
    .selectAll('users')
    .select(['endpoints.uid as endpointUid', 'endpoints.name as endpointName'])
    .where('endpoints.id', '=', endpointId)
    .executeTakeFirst();
  if (row === undefined) return;
  const { endpointUid, endpointName, ...user } = row;
  const notice: PausedNotice = { kind: 'destination-paused', url, ...pause, endpointUid, endpointName };
  if (isProvenAddress(toUserRecord(user), user.email)) await addMail(transaction, user.id, notice);
}

function failureOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'unknown';
  return attempt.error ?? `${attempt.status ?? ''} ${attempt.statusText}`.trim();
}
