import { MAX_ATTEMPTS_PER_REQUEST } from '@creel/contract';
import { sql } from 'kysely';
import { indexOfKey, requestKey } from '../../database/stored-request.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import { inChunks } from '../../database/engine.ts';
import { removeSpared } from './spared-queries.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { inTransaction, unsynced } from '../../database/remote.ts';
import type { EngineTransaction } from '../../database/remote.ts';
import { lockEndpoint } from '../requests/queries.ts';
import type { Attempt, AttemptWithoutResponse } from './attempt-queries.ts';
import { lockDestinations } from './destination-queries.ts';
import {
  REQUEST_COLUMNS,
  failuresOf,
  keysOf,
  lastDeliveryOf,
  mapKeyOf,
  saveLatest,
  countOutcomes,
  destinationsOf,
  mayBeLate,
  withLaterOutcome,
} from './outcome-queries.ts';
import type { PendingDeliveries, RequestOfEndpoint } from './outcome-queries.ts';

export type RecordedAttempt = AttemptWithoutResponse & { readonly state: RequestRecord['delivery'] };

/** In the order of the attempts. Null for a request that was deleted meanwhile: its attempt is not stored. */
export type RecordedAttempts = readonly (RecordedAttempt | null)[];

/**
 * Stores attempts and updates the history, the pending deliveries and the failures of destinations. Adds the notices of
 * pauses, and removes requests that were only kept for the attempts. With `mayBeStored`, an attempt that an earlier call
 * stored without an answer is not stored and counted again.
 */
async function recordAttempts(
  transaction: EngineTransaction,
  received: readonly Attempt[],
  now: number,
  mayBeStored = false,
) {
  const { isStored, pending, destinations } = await lockRequests(transaction, received);
  const isPresent = (id: number | null): boolean => destinations.some((destination) => destination.id === id);
  const attempts = received.map((attempt) => ({
    ...withoutNul(attempt),
    // The destination was deleted meanwhile, so nothing follows.
    destinationId: isPresent(attempt.destinationId) ? attempt.destinationId : null,
    nextAttemptAt: nextTimeOf(attempt, pending),
  }));
  const kept = attempts.filter(isStored);
  const known = mayBeStored ? await idsOfStored(transaction, kept) : new Map<Attempt, undefined>();
  const isNew = (attempt: Attempt): boolean => known.get(attempt) === undefined;
  const added = kept.filter(isNew);
  const ids = await insertAttempts(transaction, added);
  await updateDeliveries(
    transaction,
    added.filter((attempt) => pending.has(attempt.deliveryId) && !mayBeLate(attempt, pending)),
  );
  const outcomes = await withLaterOutcome(transaction, kept, pending);
  const failures = await failuresOf(transaction, outcomes);
  const requests = outcomes.map((attempt) => ({
    ...attempt,
    latest: failures.get(mapKeyOf(attempt)) ?? lastDeliveryOf(attempt),
  }));
  const waiting = await waitingAmong(transaction, requests);
  // As saved: of several attempts for a request, the last one counts.
  const states = new Map(
    requests.map((request) => [mapKeyOf(request), { last: request.latest, isPending: waiting.has(mapKeyOf(request)) }]),
  );
  await countOutcomes(transaction, destinations, attempts.filter(isNew), now);
  const ended = byEndpoint(kept.filter((attempt) => !isWaiting(attempt)));
  // Captures wait from here on.
  for (const [endpointId] of ended) await lockEndpoint(transaction, endpointId, 'change');
  await trimHistory(transaction, kept);
  await saveLatest(transaction, requests);
  for (const [endpointId, own] of ended) {
    const indexes = own.map(({ index }) => index);
    await removeSpared(transaction, endpointId, indexes);
  }
  const idOf = new Map([...known, ...added.map((attempt, nth) => [attempt, ids[nth]] as const)]);
  return attempts.map((attempt) => {
    const id = idOf.get(attempt);
    return id === undefined ? null : { ...withoutResponse(attempt), id, state: states.get(mapKeyOf(attempt)) };
  });
}

/** Headers are many small objects, which the thread of the caller would get as a copy. */
function withoutResponse({
  responseHeaders: _headers,
  responseBody: _body,
  responseTruncated: _cut,
  ...rest
}: Attempt) {
  return rest;
}

/**
 * Which attempts' requests are still stored, those of the deliveries that are still pending, and the destinations.
 * They stay so until the transaction ends. Every transaction locks in this order, so that two can't deadlock: shared
 * endpoints, destinations, deliveries, counters of endpoints, the history of requests. Each is locked in the order of ids.
 */
async function lockRequests(transaction: EngineTransaction, attempts: readonly Attempt[]) {
  const firstIndexes = new Map<number, number>();
  for (const [endpointId] of byEndpoint(attempts)) {
    const bounds = await lockEndpoint(transaction, endpointId, 'share');
    if (bounds !== undefined) firstIndexes.set(endpointId, bounds.first_index);
  }
  const destinations = await lockDestinations(transaction, destinationsOf(attempts));
  const pending = await lockDeliveries(transaction, attempts);
  // Requests of pending deliveries need no lock, because captures spare them. Captures may trim all others.
  const areSpared = attempts.every(({ deliveryId }) => pending.has(deliveryId));
  if (!areSpared)
    for (const endpointId of firstIndexes.keys()) {
      await lockEndpoint(transaction, endpointId, 'change');
      await setHasDeliveries(transaction, endpointId);
    }
  const stored = await storedAmong(transaction, attempts);
  const isStored = (attempt: Attempt): boolean =>
    stored.has(mapKeyOf(attempt)) && attempt.index >= (firstIndexes.get(attempt.endpointId) ?? Infinity);
  return { isStored, pending, destinations };
}

/** In the order of ids. */
function byEndpoint(attempts: readonly Attempt[]): [number, Attempt[]][] {
  return [...Map.groupBy(attempts, ({ endpointId }) => endpointId)].toSorted(([a], [b]) => a - b);
}

/** When the delivery is sent again after this attempt. Null if it is not, or after a later attempt. */
function nextTimeOf(attempt: Attempt, pending: PendingDeliveries): number | null {
  if (!mayBeLate(attempt, pending)) return attempt.nextAttemptAt;
  const stored = pending.get(attempt.deliveryId);
  return stored?.attempts === attempt.attempt ? stored.nextAttemptAt : null;
}

/** A further attempt of the delivery is planned. */
function isWaiting({ nextAttemptAt }: Attempt): boolean {
  return nextAttemptAt !== null;
}

/** The map keys of those requests that are stored, or cleared and not removed yet. */
async function storedAmong(transaction: DatabaseTransaction, requests: readonly RequestOfEndpoint[]) {
  const rows = await inChunks(requests, (chunk) =>
    transaction
      .selectFrom('captured_requests')
      .select([sql<number>`key >> 32`.as('endpointId'), indexOfKey.as('index')])
      .where('key', 'in', keysOf(chunk))
      .execute(),
  );
  return new Set(rows.map(mapKeyOf));
}

/** Those of the deliveries that are still pending by their ids, with their rows locked. */
async function lockDeliveries(
  transaction: EngineTransaction,
  attempts: readonly Attempt[],
): Promise<PendingDeliveries> {
  const forwards = attempts.filter(({ kind }) => kind === 'forward').map(({ deliveryId }) => deliveryId);
  const rows = await inChunks([...new Set(forwards)].toSorted(), (chunk) =>
    transaction
      .selectFrom('deliveries')
      .select(['id', 'attempts', 'next_attempt_at as nextAttemptAt'])
      .where('id', 'in', chunk)
      .orderBy('id')
      .modifyEnd(transaction.engine.locks.alone)
      .execute(),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Tells the trim that requests of this endpoint may have deliveries, which it must spare or remove. */
async function setHasDeliveries(transaction: DatabaseTransaction, endpointId: number): Promise<void> {
  await transaction
    .updateTable('endpoints')
    .set({ has_deliveries: 1 })
    .where('id', '=', endpointId)
    .where('has_deliveries', '=', 0)
    .execute();
}

/** The ids of the attempts, `undefined` for those that are not stored. */
async function idsOfStored(transaction: DatabaseTransaction, attempts: readonly Attempt[]) {
  const rows = await inChunks(attempts, (chunk) =>
    transaction
      .selectFrom('delivery_attempts')
      .select(['id', 'delivery_id', 'attempt', 'sent_at'])
      .where(
        'delivery_id',
        'in',
        chunk.map(({ deliveryId }) => deliveryId),
      )
      .execute(),
  );
  const idOf = ({ deliveryId, attempt, at }: Attempt): number | undefined =>
    rows.find((row) => row.delivery_id === deliveryId && row.attempt === attempt && row.sent_at === at)?.id;
  return new Map(attempts.map((attempt) => [attempt, idOf(attempt)]));
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

function insertAttempts(transaction: DatabaseTransaction, attempts: readonly Attempt[]): Promise<number[]> {
  return inChunks(attempts, async (chunk) => {
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
    // The database assigns ids in the order of the rows, but may return them in another order.
    return rows.map((row) => row.id).toSorted((a, b) => a - b);
  });
}

/** Deletes all but the newest attempts of each request. */
async function trimHistory(transaction: DatabaseTransaction, attempts: readonly Attempt[]): Promise<void> {
  const requests = new Map(attempts.map((attempt) => [mapKeyOf(attempt), attempt]));
  const long = await inChunks([...requests.values()], (chunk) =>
    transaction
      .selectFrom('delivery_attempts')
      .select(REQUEST_COLUMNS)
      .where('request_key', 'in', keysOf(chunk))
      .groupBy('request_key')
      .having((having) => having.fn.countAll(), '>', MAX_ATTEMPTS_PER_REQUEST)
      .orderBy('request_key')
      .execute(),
  );
  for (const request of long) await deleteOldAttempts(transaction, request);
}

async function deleteOldAttempts(
  transaction: DatabaseTransaction,
  { endpointId, index }: RequestOfEndpoint,
): Promise<void> {
  const key = requestKey(endpointId, index);
  await transaction
    .deleteFrom('delivery_attempts')
    .where('request_key', '=', key)
    .where('id', '<=', (older) =>
      older
        .selectFrom('delivery_attempts')
        .select('id')
        .where('request_key', '=', key)
        .orderBy('id', 'desc')
        .limit(1)
        .offset(MAX_ATTEMPTS_PER_REQUEST),
    )
    .execute();
}

/** Ends the pending deliveries of attempts without a next one, and plans the next attempt of the others. */
async function updateDeliveries(transaction: DatabaseTransaction, attempts: readonly Attempt[]): Promise<void> {
  const ended = attempts.filter((attempt) => !isWaiting(attempt)).map(({ deliveryId }) => deliveryId);
  await inChunks(ended, (chunk) => transaction.deleteFrom('deliveries').where('id', 'in', chunk).execute());
  const again = attempts.flatMap(({ deliveryId, endpointId, index, destinationId, attempt, nextAttemptAt }) =>
    nextAttemptAt === null || destinationId === null
      ? []
      : {
          id: deliveryId,
          request_key: requestKey(endpointId, index),
          destination_id: destinationId,
          attempts: attempt,
          next_attempt_at: nextAttemptAt,
        },
  );
  // They are pending, so each insert is an update of its row. One statement updates many.
  await inChunks(again, (chunk) =>
    transaction
      .insertInto('deliveries')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((set) => ({
          attempts: set.ref('excluded.attempts'),
          next_attempt_at: set.ref('excluded.next_attempt_at'),
        })),
      )
      .execute(),
  );
}

/** The map keys of those requests that wait for an attempt. */
async function waitingAmong(transaction: DatabaseTransaction, requests: readonly RequestOfEndpoint[]) {
  const rows = await inChunks(requests, (chunk) =>
    transaction
      .selectFrom('deliveries')
      .select(REQUEST_COLUMNS)
      .where('request_key', 'in', keysOf(chunk))
      .distinct()
      .execute(),
  );
  return new Set(rows.map(mapKeyOf));
}

export const recordQueries = { recordAttempts: unsynced(inTransaction(recordAttempts)) };
