import type { DestinationChange, DestinationCreate } from '@creel/contract';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { countRows, inChunks } from '../../database/engine.ts';
import type { Database, DatabaseTransaction, Tables } from '../../database/schema.ts';
import { indexOfRequestKey } from '../../database/stored-request.ts';
import { freeing, inTransaction, read, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';
import { lockEndpoint, storedIndexes } from '../requests/queries.ts';
import type { Bounds } from '../requests/queries.ts';
import { removeSpared } from './spared-queries.ts';

/** SQL of destinations. Times are milliseconds since 1970 and always passed in. */

type DestinationRecord = Readonly<ReturnType<typeof toDestinationRecord>>;

export function toDestinationRecord(row: Selectable<Tables['destinations']>) {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    url: row.url,
    appendPath: row.append_path === 1,
    enabled: row.enabled === 1,
    query: row.query,
    sign: row.sign === 1,
    pausedAt: row.paused_at,
    pauseReason: row.pause_reason,
    /** Failed attempts in a row. */
    failures: row.failures,
    /** Statuses of the latest attempts, oldest first. Null without a response. */
    recentStatuses: recentStatusesOf(row),
    createdAt: row.created_at,
  };
}

const statusesSchema = z.array(z.int().nullable());

/** The statuses of the last attempts, oldest first. `null` is an attempt without an answer. */
export function recentStatusesOf(row: Pick<Selectable<Tables['destinations']>, 'recent_statuses'>): (number | null)[] {
  return statusesSchema.parse(JSON.parse(row.recent_statuses));
}

export type DestinationWithPending = DestinationRecord & { readonly pending: number };

function selectWithPending(db: Database) {
  const pending = sql<number>`(select count(*) from deliveries where destination_id = destinations.id)`;
  return db.selectFrom('destinations').selectAll().select(pending.as('pending'));
}

function toRecordWithPending(row: Selectable<Tables['destinations']> & { readonly pending: number }) {
  return { ...toDestinationRecord(row), pending: row.pending };
}

/** Oldest first. */
async function listDestinations(db: EngineDatabase, endpointId: number): Promise<DestinationWithPending[]> {
  const rows = await selectWithPending(db).where('endpoint_id', '=', endpointId).orderBy('id').execute();
  return rows.map(toRecordWithPending);
}

/** An endpoint with a destination that is on; `undefined` when there is none. */
async function findForwardingEndpoint(db: EngineDatabase): Promise<number | undefined> {
  const row = await db
    .selectFrom('destinations')
    .select('endpoint_id')
    .where('enabled', '=', 1)
    .limit(1)
    .executeTakeFirst();
  return row?.endpoint_id;
}

/** Creates a destination for captures from now on. `limit` when the endpoint has that many. */
async function createDestination(
  transaction: EngineTransaction,
  endpointId: number,
  fields: DestinationCreate,
  at: { readonly now: number; readonly limit: number },
): Promise<DestinationWithPending | 'limit' | undefined> {
  const endpoint = await lockEndpoint(transaction, endpointId, 'alone');
  if (endpoint === undefined) return undefined;
  const others = transaction.selectFrom('destinations').where('endpoint_id', '=', endpointId);
  if ((await countRows(others)) >= at.limit) return 'limit';
  const row = await transaction
    .insertInto('destinations')
    .values({
      endpoint_id: endpointId,
      ...columnsOf(fields),
      from_index: endpoint.next_index,
      created_at: at.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await transaction
    .updateTable('endpoints')
    .set({ planned_to: endpoint.planned_to ?? endpoint.next_index, has_deliveries: 1 })
    .where('id', '=', endpointId)
    .execute();
  return { ...toDestinationRecord(row), pending: 0 };
}

function columnsOf({ url, appendPath, enabled, query, sign }: DestinationCreate) {
  return { url, append_path: appendPath ? 1 : 0, enabled: enabled ? 1 : 0, query, sign: sign ? 1 : 0 };
}

/**
 * Changes a destination. `enabled: true` also resumes a paused one; then everything that is pending is due at once.
 * Captures that arrived while it was off are not forwarded. `undefined` when it does not exist.
 */
async function changeDestination(
  transaction: EngineTransaction,
  endpointId: number,
  id: number,
  changes: DestinationChange,
  now: number,
): Promise<DestinationWithPending | undefined> {
  const endpoint = await lockEndpoint(transaction, endpointId, 'alone');
  const before = await transaction
    .selectFrom('destinations')
    .selectAll()
    .where('id', '=', id)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
  if (endpoint === undefined || before === undefined) return undefined;
  const record = toDestinationRecord(before);
  const isResumed = changes.enabled === true && (!record.enabled || record.pausedAt !== null);
  await transaction
    .updateTable('destinations')
    .set({
      ...columnsOf({
        url: changes.url ?? record.url,
        appendPath: changes.appendPath ?? record.appendPath,
        enabled: changes.enabled ?? record.enabled,
        query: changes.query ?? record.query,
        sign: changes.sign ?? record.sign,
      }),
      ...(isResumed ? { paused_at: null, pause_reason: null, failures: 0 } : {}),
      ...(isResumed && !record.enabled ? { from_index: endpoint.next_index } : {}),
    })
    .where('id', '=', id)
    .execute();
  if (isResumed)
    await transaction
      .updateTable('deliveries')
      .set({ next_attempt_at: now })
      .where('destination_id', '=', id)
      .where('next_attempt_at', '>', now)
      .execute();
  await updateDueAt(transaction, [id]);
  return toRecordWithPending(await selectWithPending(transaction).where('id', '=', id).executeTakeFirstOrThrow());
}

/** Locks destinations, in the order of ids, so that two processes can't deadlock. Omits those that do not exist. */
export async function lockDestinations(transaction: EngineTransaction, ids: readonly number[]) {
  if (ids.length === 0) return [];
  return transaction
    .selectFrom('destinations')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('id')
    .modifyEnd(transaction.engine.locks.alone)
    .execute();
}

/** The new `due_at` of a destination, in an update of its row. */
export const DUE_AT = sql<number | null>`case when enabled = 1 and paused_at is null
  then (select min(next_attempt_at) from deliveries where destination_id = destinations.id) end`;

/**
 * Sets `due_at` from the pending deliveries. An earlier statement has locked the destinations, because a statement does
 * not see deliveries that were committed while it waited for a lock.
 */
export async function updateDueAt(transaction: DatabaseTransaction, destinationIds: readonly number[]): Promise<void> {
  await inChunks(destinationIds, (chunk) =>
    transaction
      .updateTable('destinations')
      .set({ due_at: DUE_AT })
      .where('id', 'in', chunk)
      .where('due_at', 'is distinct from', DUE_AT)
      .execute(),
  );
}

/**
 * Removes a destination in steps of at most `limit` pending deliveries, so that none of them delays captures. It is off
 * from the first step on. Returns the indexes of the requests whose delivery ended. `undefined` when it does not exist.
 */
async function removeDestination(transaction: EngineTransaction, endpointId: number, id: number, limit: number) {
  const endpoint = await lockEndpoint(transaction, endpointId, 'alone');
  const off = await transaction
    .updateTable('destinations')
    .set({ enabled: 0, due_at: null })
    .where('id', '=', id)
    .where('endpoint_id', '=', endpointId)
    .returning('id')
    .executeTakeFirst();
  if (endpoint === undefined || off === undefined) return undefined;
  const rows = await transaction
    .deleteFrom('deliveries')
    .where('id', 'in', (deliveries) =>
      deliveries
        .selectFrom('deliveries')
        .select('id')
        .where('destination_id', '=', id)
        .orderBy('next_attempt_at')
        .limit(limit),
    )
    .returning(indexOfRequestKey.as('index'))
    .execute();
  const ended = rows.map((row) => row.index);
  await removeSpared(transaction, endpointId, ended);
  if (ended.length === limit) return { isFinished: false, ended };
  await transaction.deleteFrom('destinations').where('id', '=', id).execute();
  const other = await transaction
    .selectFrom('destinations')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .limit(1)
    .executeTakeFirst();
  if (other === undefined) await stopPlanning(transaction, endpointId, endpoint);
  return { isFinished: true, ended };
}

/** The endpoint has no destination any more. Removes the requests that the trim spared because they were not planned yet. */
async function stopPlanning(
  transaction: EngineTransaction,
  endpointId: number,
  { planned_to: plannedTo, trimmed_to: trimmedTo }: Bounds,
): Promise<void> {
  await transaction.updateTable('endpoints').set({ planned_to: null }).where('id', '=', endpointId).execute();
  await removeSpared(transaction, endpointId, await storedIndexes(transaction, endpointId, plannedTo ?? 0, trimmedTo));
}

export const destinationQueries = {
  listDestinations: read(listDestinations),
  findForwardingEndpoint: read(findForwardingEndpoint),
  createDestination: write(inTransaction(createDestination)),
  changeDestination: write(inTransaction(changeDestination)),
  removeDestination: freeing(inTransaction(removeDestination)),
};
