import { MAX_ATTEMPTS_PER_REQUEST, deliveryKindSchema, headerPairSchema } from '@creel/contract';
import type { DeliverySummary, HeaderPair } from '@creel/contract';
import { sql } from 'kysely';
import { z } from 'zod';
import { countRows, inChunks } from '../../database/engine.ts';
import { indexOfKey, indexOfRequestKey, keyRange, requestKey } from '../../database/stored-request.ts';
import type { Database } from '../../database/schema.ts';
import { inTransaction, read, unsynced, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';
import { SIZE, lockEndpoint, selectBounds } from '../requests/queries.ts';
import { CLOCK_ERROR_MS } from './delivery-rules.ts';
import { lockDestinations, toDestinationRecord, updateDueAt } from './destination-queries.ts';

/** SQL of deliveries and their attempts. Times are milliseconds since 1970 and always passed in. */

/** The stored part of a response. */
interface StoredResponse {
  readonly responseHeaders: readonly HeaderPair[];
  readonly responseBody: Uint8Array | null;
  readonly responseTruncated: boolean;
}

/** An attempt to send a request, as it is stored. */
export interface Attempt extends StoredResponse, Readonly<Omit<DeliverySummary, 'id' | 'at' | 'nextAttemptAt'>> {
  readonly endpointId: number;
  readonly index: number;
  readonly at: number;
  /** Null if no further attempt is planned. */
  readonly nextAttemptAt: number | null;
}

export type StoredAttempt = Attempt & { readonly id: number };
export type AttemptWithoutResponse = Omit<StoredAttempt, keyof StoredResponse>;

function selectActive(db: EngineDatabase) {
  return db
    .selectFrom('destinations')
    .innerJoin('endpoints', 'endpoints.id', 'destinations.endpoint_id')
    .selectAll('destinations')
    .select(['user_id as userId', 'signing_scheme as signingScheme', 'due_at as dueAt'])
    .where('enabled', '=', 1)
    .where('paused_at', 'is', null);
}

type ActiveRow = Awaited<ReturnType<ReturnType<typeof selectActive>['executeTakeFirstOrThrow']>>;

/** A destination that is on and not paused, with all that an attempt needs. `dueAt` may be too early. */
export type ActiveDestination = Readonly<ReturnType<typeof toActive>>;

function toActive(row: ActiveRow) {
  const { userId, signingScheme, dueAt } = row;
  return { ...toDestinationRecord(row), userId, signingScheme, dueAt };
}

/** The destination of a delivery; `undefined` when it is off or paused, or the delivery has ended. */
async function findActiveDestination(db: EngineDatabase, deliveryId: string): Promise<ActiveDestination | undefined> {
  const row = await selectActive(db)
    .innerJoin('deliveries', 'deliveries.destination_id', 'destinations.id')
    .where('deliveries.id', '=', deliveryId)
    .executeTakeFirst();
  return row && toActive(row);
}

/** A delivery that can be sent. `size`: bytes of the request's body. */
export type DueDelivery = Readonly<NonNullable<Awaited<ReturnType<typeof dueDeliveries>>>['deliveries'][number]>;

/**
 * The due deliveries of a destination, except those in `sending`, in the order of sending. First attempts are in the
 * order of capture. `undefined` when the destination is deleted, off or paused.
 */
async function dueDeliveries(
  db: EngineDatabase,
  destinationId: number,
  sending: readonly string[],
  at: { readonly now: number; readonly limit: number },
) {
  const row = await selectActive(db).where('destinations.id', '=', destinationId).executeTakeFirst();
  if (row === undefined) return undefined;
  let due = db
    .selectFrom('deliveries')
    .innerJoin('captured_requests', 'captured_requests.key', 'deliveries.request_key')
    .select(['deliveries.id', 'attempts', SIZE.as('size'), indexOfKey.as('index')])
    .where('destination_id', '=', destinationId)
    .where('next_attempt_at', '<=', at.now)
    .orderBy('next_attempt_at')
    .orderBy('request_key')
    .limit(at.limit);
  if (sending.length > 0) due = due.where('deliveries.id', 'not in', sending);
  return { destination: toActive(row), deliveries: await due.execute() };
}

/** Corrects a `due_at` that was too early. */
async function correctDueAt(transaction: EngineTransaction, destinationId: number): Promise<void> {
  await lockDestinations(transaction, [destinationId]);
  await updateDueAt(transaction, [destinationId]);
}

/**
 * Shortens waits that began in the future, because the machine's clock was set back. `maxWaitsMs`: the longest wait by
 * number of attempts. First attempts become due in the order of capture. If there is no such wait, it only reads.
 */
async function shortenWaits(transaction: EngineTransaction, now: number, maxWaitsMs: readonly number[]): Promise<void> {
  const branches = maxWaitsMs.map((wait, attempts) => sql`when ${sql.lit(attempts)} then ${sql.lit(now + wait)}`);
  const latest = sql<number>`case attempts ${sql.join(branches, sql` `)} end`;
  // A first attempt is due at the time of its capture.
  const began = sql<number>`coalesce((select max(sent_at) from delivery_attempts
    where delivery_id = deliveries.id and attempt = attempts), next_attempt_at)`;
  const tooLong = sql<boolean>`next_attempt_at > ${latest} and ${began} > ${sql.lit(now + CLOCK_ERROR_MS)}`;
  const rows = await transaction
    .selectFrom('deliveries')
    .select('destination_id as id')
    .distinct()
    .where(tooLong)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  // Before the deliveries, like every transaction.
  await lockDestinations(transaction, ids);
  await transaction
    .updateTable('deliveries')
    .set({ next_attempt_at: latest })
    .where('destination_id', 'in', ids)
    .where(tooLong)
    .execute();
  await updateDueAt(transaction, ids);
}

const storedHeadersSchema = z.array(headerPairSchema);

/** A deleted destination is null, and only its pending deliveries go on. */
function selectAttempts(db: EngineDatabase) {
  return db
    .selectFrom('delivery_attempts as a')
    .leftJoin('destinations as d', 'd.id', 'a.destination_id')
    .leftJoin('deliveries as p', (join) =>
      join.onRef('p.id', '=', 'a.delivery_id').onRef('p.attempts', '=', 'a.attempt'),
    )
    .select([
      'a.id',
      'a.delivery_id as deliveryId',
      'a.kind',
      'd.id as destinationId',
      'a.url',
      'a.method',
      'a.attempt',
    ])
    .select(['a.status', 'a.status_text as statusText', 'a.error', 'a.duration_ms as durationMs', 'a.sent_at as at'])
    .select(['p.next_attempt_at as nextAttemptAt']);
}

/** Those of the attempts that exist, in any order. */
async function findAttempts(db: EngineDatabase, ids: readonly number[]) {
  const rows = await inChunks(ids, (chunk) => selectAttempts(db).where('a.id', 'in', chunk).execute());
  return rows.map((row) => ({ ...row, kind: deliveryKindSchema.parse(row.kind) }));
}

/** The attempts of a request, newest first. */
async function listAttempts(db: EngineDatabase, endpointId: number, index: number): Promise<StoredAttempt[]> {
  const rows = await selectAttempts(db)
    .select(['response_headers', 'response_body as responseBody', 'response_truncated'])
    .where('a.request_key', '=', requestKey(endpointId, index))
    .orderBy('a.id', 'desc')
    .limit(MAX_ATTEMPTS_PER_REQUEST)
    .execute();
  return rows.map(({ response_headers, response_truncated, ...row }) => ({
    ...row,
    endpointId,
    index,
    kind: deliveryKindSchema.parse(row.kind),
    responseHeaders: storedHeadersSchema.parse(JSON.parse(response_headers)),
    responseTruncated: response_truncated === 1,
  }));
}

/** Stored bytes of the attempts of a request. */
async function attemptBytes(db: EngineDatabase, endpointId: number, index: number): Promise<number> {
  const ofRow = sql`octet_length(url) + octet_length(response_headers) + coalesce(octet_length(response_body), 0)`;
  const { bytes } = await db
    .selectFrom('delivery_attempts')
    .select(sql<number>`cast(coalesce(sum(${ofRow}), 0) as bigint)`.as('bytes'))
    .where('request_key', '=', requestKey(endpointId, index))
    .executeTakeFirstOrThrow();
  return bytes;
}

/** A delivery that waits for its first attempt, which is due at `plannedAt`. */
export type PlannedDelivery = Awaited<ReturnType<typeof listPlanned>>[number];

/** The deliveries of a request that wait for their first attempt, newest destination first. */
async function listPlanned(db: EngineDatabase, endpointId: number, index: number) {
  const rows = await db
    .selectFrom('deliveries as p')
    .innerJoin('destinations as d', 'd.id', 'p.destination_id')
    .select(['p.id as deliveryId', 'd.id as destinationId', 'd.url', 'd.append_path', 'p.next_attempt_at as plannedAt'])
    .where('p.request_key', '=', requestKey(endpointId, index))
    .where('p.attempts', '=', 0)
    .orderBy('d.id', 'desc')
    .execute();
  return rows.map(({ append_path, ...planned }) => ({ ...planned, appendPath: append_path === 1 }));
}

/** Why a delivery can't be sent again: no destination sent it, or the state of its destination. */
export type RetryRefusal = 'notForwarded' | 'deleted' | 'off' | 'paused';

/** Makes a delivery of a destination due at `now`, whether it is pending or has ended. */
async function retryDelivery(transaction: EngineTransaction, endpointId: number, deliveryId: string, now: number) {
  const endpoint = await lockEndpoint(transaction, endpointId, 'alone');
  if (endpoint === undefined) return 'notFound';
  const known = await findDelivery(transaction, endpointId, deliveryId, endpoint.first_index);
  if (known === undefined) return 'notFound';
  // An attempt that ended after the deletion of its destination has none.
  if (known.destinationId === null) return known.kind === 'forward' ? 'deleted' : 'notForwarded';
  const destination = await transaction
    .selectFrom('destinations')
    .select(['id', 'enabled', 'paused_at'])
    .where('id', '=', known.destinationId)
    .executeTakeFirst();
  if (destination === undefined) return 'deleted';
  if (destination.enabled === 0) return 'off';
  if (destination.paused_at !== null) return 'paused';
  await transaction
    .insertInto('deliveries')
    .values({
      id: deliveryId,
      request_key: requestKey(endpointId, known.index),
      destination_id: destination.id,
      attempts: known.attempts,
      next_attempt_at: now,
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ next_attempt_at: now }))
    .execute();
  await updateDueAt(transaction, [destination.id]);
  return { destinationId: destination.id };
}

/** True if the endpoint has this delivery, pending or in the history. */
async function hasDelivery(db: EngineDatabase, endpointId: number, deliveryId: string): Promise<boolean> {
  const bounds = await selectBounds(db, endpointId).executeTakeFirst();
  return bounds !== undefined && (await findDelivery(db, endpointId, deliveryId, bounds.first_index)) !== undefined;
}

/** A delivery of the endpoint, pending or in the history. Requests below `firstIndex` are cleared, and removed later. */
async function findDelivery(db: Database, endpointId: number, deliveryId: string, firstIndex: number) {
  const index = indexOfRequestKey.as('index');
  const pending = await db
    .selectFrom('deliveries')
    .select([index, 'destination_id as destinationId', 'attempts'])
    .where('id', '=', deliveryId)
    .where(keyRange('request_key', endpointId, firstIndex))
    .executeTakeFirst();
  if (pending !== undefined) return { ...pending, kind: 'forward' };
  return db
    .selectFrom('delivery_attempts')
    .select([index, 'destination_id as destinationId', 'attempt as attempts', 'kind'])
    .where('delivery_id', '=', deliveryId)
    .where(keyRange('request_key', endpointId, firstIndex))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export const attemptQueries = {
  dueDeliveries: read(dueDeliveries),
  findActiveDestination: read(findActiveDestination),
  findAttempts: read(findAttempts),
  listAttempts: read(listAttempts),
  attemptBytes: read(attemptBytes),
  listPlanned: read(listPlanned),
  countPendingDeliveries: read((db: EngineDatabase) => countRows(db.selectFrom('deliveries'))),
  hasDelivery: read(hasDelivery),
  retryDelivery: write(inTransaction(retryDelivery)),
  correctDueAt: unsynced(inTransaction(correctDueAt)),
  shortenWaits: unsynced(inTransaction(shortenWaits)),
};
