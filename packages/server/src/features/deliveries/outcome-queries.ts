import { MAX_RECENT_STATUSES, isDelivered, isProvenAddress } from '@creel/contract';
import type { LastDelivery } from '@creel/contract';
import { sql } from 'kysely';
import type { Selectable, SqlBool } from 'kysely';
import { z } from 'zod';
import { inChunks } from '../../database/engine.ts';
import { toUserRecord } from '../../database/records.ts';
import { read } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import type { DatabaseTransaction, Tables } from '../../database/schema.ts';
import { indexOfKey, indexOfRequestKey, requestKey } from '../../database/stored-request.ts';
import { isoTime } from '../../iso-time.ts';
import { addMail } from '../mail/queries.ts';
import { IS_PENDING, LATEST_DELIVERY, firstIndexOf, storedLatest } from '../requests/queries.ts';
import type { Attempt } from './attempt-queries.ts';
import { countFailures, pauseReason } from './delivery-rules.ts';
import { DUE_AT, recentStatusesOf } from './destination-queries.ts';

/** SQL of the results of attempts: the last delivery of a request, which lists show, and the state of a destination. */

/** Identifies a captured request. */
export type RequestOfEndpoint = Pick<Attempt, 'endpointId' | 'index'>;

/** The key of a request in a `Map` or a `Set`. */
export function mapKeyOf({ endpointId, index }: RequestOfEndpoint): string {
  return `${endpointId} ${index}`;
}

/** SQL of the requests' `request_key`s. */
export function keysOf(requests: readonly RequestOfEndpoint[]) {
  return requests.map(({ endpointId, index }) => requestKey(endpointId, index));
}

/** The columns that identify a row's request. `request_key` itself is too large for a JavaScript number. */
export const REQUEST_COLUMNS = [
  sql<number>`request_key >> 32`.as('endpointId'),
  indexOfRequestKey.as('index'),
] as const;

/** The attempt as the row of its request shows it. */
export function lastDeliveryOf({
  kind,
  status,
  error,
  at,
}: Pick<Attempt, 'kind' | 'status' | 'error' | 'at'>): LastDelivery {
  return { kind, status, error, at: isoTime(at) };
}

/** SQL of `isDelivered`. */
function hasDelivered(status: string) {
  return sql<SqlBool>`coalesce(${sql.ref(status)}, 0) between 200 and 299`;
}

/** Deliveries that wait for an attempt by their ids: the number of the last stored one, and when the next one is due. */
export type PendingDeliveries = ReadonlyMap<string, { readonly attempts: number; readonly nextAttemptAt: number }>;

/**
 * True for a failure that another node may have repeated: a node that reaches the database only after its lease has
 * expired stores its attempt after that of the other node.
 */
export function mayBeLate({ kind, status, deliveryId, attempt }: Attempt, pending: PendingDeliveries): boolean {
  return kind === 'forward' && !isDelivered(status) && attempt <= (pending.get(deliveryId)?.attempts ?? Infinity);
}

/** The attempts, where a late failure has the outcome of its delivery's success or later attempt, if one is stored. */
export async function withLaterOutcome(
  transaction: DatabaseTransaction,
  attempts: readonly Attempt[],
  pending: PendingDeliveries,
): Promise<readonly Attempt[]> {
  const ids = attempts.filter((attempt) => mayBeLate(attempt, pending)).map(({ deliveryId }) => deliveryId);
  const stored = await inChunks(ids, (chunk) =>
    transaction
      .selectFrom('delivery_attempts')
      .select(['delivery_id', 'attempt', 'status', 'error', 'sent_at'])
      .where('delivery_id', 'in', chunk)
      .orderBy('attempt')
      .orderBy(hasDelivered('status'))
      .execute(),
  );
  return attempts.map((attempt) => {
    if (!mayBeLate(attempt, pending)) return attempt;
    const own = stored.filter((row) => row.delivery_id === attempt.deliveryId);
    const later = own.findLast(
      (row) => row.attempt > attempt.attempt || (row.attempt === attempt.attempt && isDelivered(row.status)),
    );
    return later === undefined ? attempt : { ...attempt, status: later.status, error: later.error, at: later.sent_at };
  });
}

/**
 * For each request with a successful forward, the newest failure at a destination that still exists. Its row shows this
 * failure rather than the success of another destination. A replay shows its own outcome.
 */
export async function failuresOf(transaction: DatabaseTransaction, attempts: readonly Attempt[]) {
  const forwarded = attempts.filter(({ kind, status }) => kind === 'forward' && isDelivered(status));
  const rows = await inChunks(forwarded, (chunk) =>
    transaction
      .selectFrom('delivery_attempts as a')
      .innerJoin('destinations', 'destinations.id', 'a.destination_id')
      .select([...REQUEST_COLUMNS, 'a.status', 'a.error', 'a.sent_at as at'])
      .where('a.request_key', 'in', keysOf(chunk))
      .where(({ not }) => not(hasDelivered('a.status')))
      .where(
        sql<SqlBool>`not exists (select 1 from delivery_attempts later where later.delivery_id = a.delivery_id and
          (later.attempt > a.attempt or (later.attempt = a.attempt and ${hasDelivered('later.status')})))`,
      )
      .orderBy('a.id')
      .execute(),
  );
  return new Map(rows.map((row) => [mapKeyOf(row), lastDeliveryOf({ kind: 'forward', ...row })]));
}

/** Stores the last delivery of each request, in the order of ids. A caller that locks counters does so before. */
export async function saveLatest(
  transaction: DatabaseTransaction,
  requests: readonly (RequestOfEndpoint & { readonly latest: LastDelivery })[],
): Promise<void> {
  // One row per request: a statement can't change a row twice.
  const latest = new Map(requests.map((request) => [mapKeyOf(request), request]));
  const inOrder = [...latest.values()].toSorted((a, b) => a.endpointId - b.endpointId || a.index - b.index);
  await inChunks(inOrder, (chunk) =>
    transaction
      .insertInto('latest_deliveries')
      .values(
        chunk.map((request) => ({
          request_key: requestKey(request.endpointId, request.index),
          latest: JSON.stringify(request.latest),
        })),
      )
      .onConflict((conflict) =>
        conflict.column('request_key').doUpdateSet((set) => ({ latest: set.ref('excluded.latest') })),
      )
      .execute(),
  );
}

/**
 * The deliveries of a stored request in short. `plannedAt`: when its first attempt at a destination is due; null when
 * none is planned. `isPending`: another attempt is planned.
 */
export type DeliveryState = Awaited<ReturnType<typeof listDeliveryStates>>[number];

/** The states of those of the requests that are stored. */
async function listDeliveryStates(db: EngineDatabase, endpointId: number, indexes: readonly number[]) {
  const rows = await inChunks(indexes, (chunk) =>
    db
      .selectFrom('captured_requests')
      .select([
        indexOfKey.as('index'),
        'received_at as receivedAt',
        sql<number | null>`(select min(next_attempt_at) from deliveries where request_key = key and attempts = 0)`.as(
          'plannedAt',
        ),
        IS_PENDING.as('pending'),
        LATEST_DELIVERY.as('latest'),
      ])
      .where('key', 'in', keysOf(chunk.map((index) => ({ endpointId, index }))))
      .where(indexOfKey, '>=', firstIndexOf(endpointId))
      .execute(),
  );
  return rows.map(({ latest, pending, ...row }) => ({ ...row, isPending: pending === 1, last: storedLatest(latest) }));
}

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
  destinations: readonly Selectable<Tables['destinations']>[],
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
        ...(isNew ? { paused_at: now, pause_reason: reason, due_at: null } : { due_at: DUE_AT }),
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

/** Writes a notice if the owner of the address has confirmed it. */
async function addPausedNotice(
  transaction: DatabaseTransaction,
  { endpoint_id: endpointId, url }: Selectable<Tables['destinations']>,
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

export const outcomeQueries = { listDeliveryStates: read(listDeliveryStates) };
