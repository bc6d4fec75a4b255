import { MAX_DELIVERIES_PER_REQUEST, MAX_RECENT_STATUSES, isDelivered, isProvenAddress } from '@creel/contract';
import type { LastDelivery } from '@creel/contract';
import { sql } from 'kysely';
import { indexOfKey, indexOfRequestKey, requestKey } from '../../database/request-key.ts';
import { rowChunks, removeSpared } from './spared-queries.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { unsynced } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import type { RequestRecord } from '../../database/store.ts';
import { toUserRecord } from '../../database/records.ts';
import { addMail } from '../mail/queries.ts';
import { lockEndpoint } from '../requests/queries.ts';
import type { Attempt, StoredAttempt } from './attempt-queries.ts';
import { countFailures, pauseReason } from './delivery-plan.ts';
import { recentStatusesOf, updateDueAt } from './destination-queries.ts';
import type { PausedNotice } from './paused-notice.ts';

/** A stored attempt, and the state of its request after it. */
export type RecordedAttempt = StoredAttempt & { readonly state: RequestRecord['delivery'] };

/** In the order of the attempts. Null when the request was deleted meanwhile; then nothing is stored. */
export type RecordedAttempts = readonly (RecordedAttempt | null)[];

/**
 * Stores attempts with all of their effects in one transaction: the history, the pending deliveries, failures in a row
 * of the destinations with the notices of pauses, and the requests that were only kept for them.
 */
async function recordAttempts(
  db: EngineDatabase,
  received: readonly Attempt[],
  now: number,
): Promise<RecordedAttempts> {
  const attempts = received.map(withoutNul);
  return db.transaction().execute(async (transaction) => {
    // Endpoints, then destinations, each in the order of ids, so that two processes can't deadlock.
    const endpointIds = ascending(attempts.map(({ endpointId }) => endpointId));
    const present = new Set<Attempt>();
    for (const endpointId of endpointIds) {
      const bounds = await lockEndpoint(transaction, endpointId);
      const own = attempts.filter((attempt) => attempt.endpointId === endpointId);
      if (bounds === undefined) continue;
      const indexes = await storedIndexes(transaction, endpointId, own, bounds.first_index);
      for (const attempt of own) if (indexes.has(attempt.index)) present.add(attempt);
    }
    const kept = attempts.filter((attempt) => present.has(attempt));
    await markSent(transaction, endpointIds);
    const ids = await insertAttempts(transaction, kept);
    await trimHistory(transaction, kept);
    await updateDeliveries(transaction, kept);
    const failures = await failuresOf(transaction, kept);
    const requests = kept.map((attempt) => ({
      ...attempt,
      latest: failures.get(nameOf(attempt)) ?? latestOf(attempt),
    }));
    await saveLatest(transaction, requests);
    const pending = await pendingAmong(transaction, requests);
    // As saved: of several attempts on a request, the last one counts.
    const states = new Map(
      requests.map((request) => [nameOf(request), { last: request.latest, isPending: pending.has(nameOf(request)) }]),
    );
    await countOutcomes(transaction, attempts, now);
    for (const endpointId of endpointIds)
      await removeSpared(
        transaction,
        endpointId,
        kept.filter((attempt) => attempt.endpointId === endpointId && !isWaiting(attempt)).map(({ index }) => index),
      );
    const idOf = new Map(kept.map((attempt, nth) => [attempt, ids[nth]]));
    return attempts.map((attempt) => {
      const id = idOf.get(attempt);
      return id === undefined ? null : { ...attempt, id, state: states.get(nameOf(attempt)) };
    });
  });
}

function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

/** A further attempt of the delivery is planned. */
function isWaiting({ nextAttemptAt }: Attempt): boolean {
  return nextAttemptAt !== null;
}

function latestOf({ kind, status, error, at }: Pick<Attempt, 'kind' | 'status' | 'error' | 'at'>): LastDelivery {
  return { kind, status, error, at: new Date(at).toISOString() };
}

async function storedIndexes(
  transaction: DatabaseTransaction,
  endpointId: number,
  attempts: readonly Attempt[],
  firstIndex: number,
): Promise<ReadonlySet<number>> {
  const indexes = ascending(attempts.map(({ index }) => index)).filter((index) => index >= firstIndex);
  const found = new Set<number>();
  for (const chunk of rowChunks(indexes)) {
    const rows = await transaction
      .selectFrom('captured_requests')
      .select(indexOfKey.as('index'))
      .where(
        'key',
        'in',
        chunk.map((index) => requestKey(endpointId, index)),
      )
      .execute();
    for (const row of rows) found.add(row.index);
  }
  return found;
}

/** From the first attempt on, the trim removes the history of what it removes. */
async function markSent(transaction: DatabaseTransaction, endpointIds: readonly number[]): Promise<void> {
  for (const id of endpointIds)
    await transaction
      .updateTable('endpoints')
      .set({ has_deliveries: 1 })
      .where('id', '=', id)
      .where('has_deliveries', '=', 0)
      .execute();
}

/** PostgreSQL can't store NUL in a text, and a target may send it in the reason of a status. */
function withoutNul(attempt: Attempt): Attempt {
  const { statusText, error } = attempt;
  return {
    ...attempt,
    statusText: statusText.replaceAll('\0', '\uFFFD'),
    error: error?.replaceAll('\0', '\uFFFD') ?? null,
  };
}

async function insertAttempts(transaction: DatabaseTransaction, attempts: readonly Attempt[]): Promise<number[]> {
  const ids: number[] = [];
  for (const chunk of rowChunks(attempts)) {
    const rows = await transaction
      .insertInto('delivery_attempts')
      .values(
        chunk.map((attempt) => ({
          request_key: requestKey(attempt.endpointId, attempt.index),
          delivery_id: attempt.deliveryId,
          kind: attempt.kind,
          destination_id: attempt.destinationId,
          url: attempt.url,
          method: attempt.method,
          attempt: attempt.attempt,
          status: attempt.status,
          status_text: attempt.statusText,
          error: attempt.error,
          duration_ms: Math.round(attempt.durationMs),
          sent_at: attempt.at,
          response_headers: JSON.stringify(attempt.responseHeaders),
          response_body: attempt.responseBody,
          response_truncated: attempt.responseTruncated ? 1 : 0,
        })),
      )
      .returning('id')
      .execute();
    // Ids are given out in the order of the rows, but not always returned in it.
    ids.push(...rows.map((row) => row.id).toSorted((a, b) => a - b));
  }
  return ids;
}

/** Deletes all but the newest attempts of each request. */
async function trimHistory(transaction: DatabaseTransaction, attempts: readonly Attempt[]): Promise<void> {
  const requests = new Map(attempts.map((attempt) => [nameOf(attempt), attempt]));
  for (const { endpointId, index } of requests.values())
    await transaction
      .deleteFrom('delivery_attempts')
      .where('request_key', '=', requestKey(endpointId, index))
      .where('id', '<=', (older) =>
        older
          .selectFrom('delivery_attempts')
          .select('id')
          .where('request_key', '=', requestKey(endpointId, index))
          .orderBy('id', 'desc')
          .limit(1)
          .offset(MAX_DELIVERIES_PER_REQUEST),
      )
      .execute();
}

/** Ends the pending deliveries that succeeded or finally failed, and plans the next attempt of the others. */
async function updateDeliveries(transaction: DatabaseTransaction, attempts: readonly Attempt[]): Promise<void> {
  const forwards = attempts.filter(({ kind }) => kind === 'forward');
  const ended = forwards.filter((attempt) => !isWaiting(attempt)).map(({ deliveryId }) => deliveryId);
  for (const chunk of rowChunks(ended)) await transaction.deleteFrom('deliveries').where('id', 'in', chunk).execute();
  for (const { deliveryId, attempt, nextAttemptAt } of forwards)
    if (nextAttemptAt !== null)
      await transaction
        .updateTable('deliveries')
        .set({ attempts: attempt, next_attempt_at: nextAttemptAt })
        .where('id', '=', deliveryId)
        .execute();
}

interface RequestName {
  readonly endpointId: number;
  readonly index: number;
}

function nameOf({ endpointId, index }: RequestName): string {
  return `${endpointId} ${index}`;
}

/** The key of a row's request, in two numbers that JavaScript can hold. */
const REQUEST_NAME = [sql<number>`request_key >> 32`.as('endpointId'), indexOfRequestKey.as('index')] as const;

/**
 * The newest failure of each forwarded request that a destination still has. A request with several destinations shows
 * it, also after another destination has accepted the request. A replay shows its own outcome.
 */
async function failuresOf(
  transaction: DatabaseTransaction,
  attempts: readonly Attempt[],
): Promise<ReadonlyMap<string, LastDelivery>> {
  const forwarded = attempts.filter(({ kind, status }) => kind === 'forward' && isDelivered(status));
  const failures = new Map<string, LastDelivery>();
  for (const chunk of rowChunks(forwarded)) {
    const rows = await transaction
      .selectFrom('delivery_attempts as a')
      .innerJoin('destinations', 'destinations.id', 'a.destination_id')
      .select([...REQUEST_NAME, 'a.status', 'a.error', 'a.sent_at'])
      .where(
        'a.request_key',
        'in',
        chunk.map(({ endpointId, index }) => requestKey(endpointId, index)),
      )
      .where((where) => where.or([where('status', 'is', null), where('status', '<', 200), where('status', '>', 299)]))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('delivery_attempts as later')
              .select('later.id')
              .whereRef('later.delivery_id', '=', 'a.delivery_id')
              .whereRef('later.id', '>', 'a.id'),
          ),
        ),
      )
      .orderBy('a.id')
      .execute();
    for (const row of rows)
      failures.set(nameOf(row), latestOf({ kind: 'forward', status: row.status, error: row.error, at: row.sent_at }));
  }
  return failures;
}

/** The names of those requests that wait for an attempt. */
async function pendingAmong(
  transaction: DatabaseTransaction,
  requests: readonly RequestName[],
): Promise<ReadonlySet<string>> {
  const pending = new Set<string>();
  for (const chunk of rowChunks(requests)) {
    const rows = await transaction
      .selectFrom('deliveries')
      .select(REQUEST_NAME)
      .where(
        'request_key',
        'in',
        chunk.map(({ endpointId, index }) => requestKey(endpointId, index)),
      )
      .distinct()
      .execute();
    for (const row of rows) pending.add(nameOf(row));
  }
  return pending;
}

/** Stores the latest delivery of each request. */
export async function saveLatest(
  transaction: DatabaseTransaction,
  requests: readonly { readonly endpointId: number; readonly index: number; readonly latest: LastDelivery }[],
): Promise<void> {
  // One row per request: a statement can't change a row twice.
  const latest = new Map(requests.map((request) => [nameOf(request), request]));
  for (const chunk of rowChunks([...latest.values()]))
    await transaction
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
      .execute();
}

/** Counts failures in a row, keeps the latest statuses, and pauses destinations with too many failures. */
async function countOutcomes(
  transaction: DatabaseTransaction,
  attempts: readonly Attempt[],
  now: number,
): Promise<void> {
  const ids = ascending(attempts.flatMap(({ destinationId }) => destinationId ?? []));
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

export const recordQueries = { recordAttempts: unsynced(recordAttempts) };
