import { BODY_PREVIEW_BYTES, unsavedId } from '@creel/contract';
import { sql } from 'kysely';
import { inChunks } from '../../database/engine.ts';
import { freeing, inTransaction, write } from '../../database/remote.ts';
import type { EngineTransaction } from '../../database/remote.ts';
import { indexOfKey, keyRange, removeDeliveries, requestKey } from '../../database/stored-request.ts';
import type { RequestRef, RequestRecord } from '../../database/stored-request.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { methodChanges } from '../../database/write-captures.ts';
import { SIZE, changeMethodCounts, findRequest, findByRef, lockEndpoint, newestTime, purgeLater } from './queries.ts';
import type { Bounds } from './queries.ts';

/** `changed` is false if the request was saved already. `limit` when the endpoint has its maximum of saved requests. */
export type SaveResult = { readonly record: RequestRecord; readonly changed: boolean } | 'limit' | undefined;

/** How many of these unsaved requests the trim spared because of their deliveries. */
function sparedCount(indexes: readonly number[], bounds: Bounds): number {
  return indexes.filter((index) => index < bounds.trimmed_to).length;
}

/** Saves unsaved requests of a locked endpoint, and corrects its counters. Returns their ids, in the same order. */
async function saveRows(
  transaction: EngineTransaction,
  endpointId: number,
  bounds: Bounds,
  indexes: readonly number[],
): Promise<number[]> {
  const ids = await transaction.engine.takeSavedIds(transaction, indexes.length);
  await inChunks([...indexes.entries()], async (chunk) => {
    const keys = chunk.map(([, index]) => requestKey(endpointId, index));
    const cases = chunk.map(([nth], at) => sql`when ${keys[at]} then cast(${ids[nth]} as bigint)`);
    await transaction
      .updateTable('captured_requests')
      .set({ saved_id: sql`case key ${sql.join(cases, sql` `)} end` })
      .where('key', 'in', keys)
      .execute();
    return [];
  });
  await transaction
    .updateTable('endpoints')
    .set({
      saved_count: sql`saved_count + ${indexes.length}`,
      unsaved_count: sql`unsaved_count - ${indexes.length}`,
      spared_count: sql`spared_count - ${sparedCount(indexes, bounds)}`,
    })
    .where('id', '=', endpointId)
    .execute();
  return ids;
}

/**
 * Saves the request with this index and returns it with the beginning of its body. For a saved request `changed` is
 * false. `undefined` when there is no such request, `limit` when the endpoint has `maxSaved` saved requests.
 */
async function saveRequest(
  transaction: EngineTransaction,
  endpointId: number,
  index: number,
  { maxSaved, bodyBytes }: { readonly maxSaved: number; readonly bodyBytes: number },
): Promise<SaveResult> {
  const bounds = await lockEndpoint(transaction, endpointId, 'change');
  if (bounds === undefined) return undefined;
  const record = await findByRef(transaction, endpointId, { index }, bodyBytes);
  if (record === undefined) return undefined;
  if (record.savedId !== null) return { record, changed: false };
  if (bounds.saved_count >= maxSaved) return 'limit';
  const [savedId = null] = await saveRows(transaction, endpointId, bounds, [index]);
  return { record: { ...record, savedId }, changed: true };
}

/** A row that is about to be changed. */
type ChangedRow = Pick<RequestRecord, 'index' | 'savedId' | 'method' | 'size'>;

const unsavedIndexes = (rows: readonly ChangedRow[]): number[] =>
  rows.filter(({ savedId }) => savedId === null).map(({ index }) => index);

/** Deletes stored requests of a locked endpoint with their deliveries, and corrects its counters. */
async function deleteRows(
  transaction: EngineTransaction,
  endpointId: number,
  bounds: Bounds,
  rows: readonly ChangedRow[],
): Promise<void> {
  await inChunks(rows, async (chunk) => {
    const keys = chunk.map(({ index }) => requestKey(endpointId, index));
    await transaction.deleteFrom('captured_requests').where('key', 'in', keys).execute();
    await removeDeliveries(transaction, sql`request_key in (${sql.join(keys)})`);
    return [];
  });
  const counts = rows.map(({ method, size }) => ({ method, stored: 1, bytes: size }));
  await changeMethodCounts(transaction, endpointId, methodChanges([], counts));
  const unsaved = unsavedIndexes(rows);
  await transaction
    .updateTable('endpoints')
    .set({
      saved_count: sql`saved_count - ${rows.length - unsaved.length}`,
      unsaved_count: sql`unsaved_count - ${unsaved.length}`,
      spared_count: sql`spared_count - ${sparedCount(unsaved, bounds)}`,
      latest_at: await newestTime(transaction, endpointId, bounds),
    })
    .where('id', '=', endpointId)
    .execute();
}

/** False when there was no such request. */
async function deleteRequest(transaction: EngineTransaction, endpointId: number, ref: RequestRef): Promise<boolean> {
  const bounds = await lockEndpoint(transaction, endpointId, 'alone');
  if (bounds === undefined) return false;
  const record = await findRequest(transaction, endpointId, ref, 0);
  if (record === undefined) return false;
  await deleteRows(transaction, endpointId, bounds, [record]);
  return true;
}

/** Maximum requests and bytes of bodies that one transaction changes, because captures wait for it. */
const MAX_CHANGED_ROWS = 128;
const MAX_CHANGED_BYTES = 8 * 1024 * 1024;

/**
 * The first stored requests with these indexes, saved or unsaved, in this order: as many as one transaction may change.
 * `left` are the indexes for the next one.
 */
async function firstRows(
  transaction: EngineTransaction,
  endpointId: number,
  bounds: Bounds,
  indexes: readonly number[],
): Promise<{ rows: readonly ChangedRow[]; left: readonly number[] }> {
  const isPossible = (index: number): boolean => index >= bounds.first_index && index < bounds.next_index;
  // A repeated index would be counted twice.
  const candidates = [...new Set(indexes.slice(0, MAX_CHANGED_ROWS))].filter(isPossible);
  const found = await inChunks(candidates, (chunk) =>
    transaction
      .selectFrom('captured_requests')
      .select([indexOfKey.as('index'), 'saved_id as savedId', 'method', SIZE.as('size')])
      .where(
        'key',
        'in',
        chunk.map((index) => requestKey(endpointId, index)),
      )
      .execute(),
  );
  const byIndex = new Map(found.map((row) => [row.index, row]));
  const rows = candidates.flatMap((index) => byIndex.get(index) ?? []);
  let bytes = 0;
  const tooMany = rows.findIndex(({ size }, nth) => (bytes += size) > MAX_CHANGED_BYTES && nth > 0);
  const end = tooMany < 0 ? rows.length : tooMany;
  return {
    rows: rows.slice(0, end),
    left: [...rows.slice(end).map(({ index }) => index), ...indexes.slice(MAX_CHANGED_ROWS)],
  };
}

/**
 * Saves the first requests with these indexes: as many as one transaction may, and as `maxSaved` allows. Returns those
 * that are saved now with their ids, those that were not before, and the indexes that are left for the next call.
 */
async function saveSome(
  transaction: EngineTransaction,
  endpointId: number,
  indexes: readonly number[],
  maxSaved: number,
) {
  const bounds = await lockEndpoint(transaction, endpointId, 'change');
  if (bounds === undefined) return { saved: [], changed: [], isFull: false, left: [] };
  const { rows, left } = await firstRows(transaction, endpointId, bounds, indexes);
  const unsaved = unsavedIndexes(rows);
  const changed = unsaved.slice(0, Math.max(0, maxSaved - bounds.saved_count));
  const ids = changed.length === 0 ? [] : await saveRows(transaction, endpointId, bounds, changed);
  const newIds = new Map(changed.map((index, nth) => [index, ids[nth]]));
  const saved = rows.flatMap(({ index, savedId }) => {
    const id = savedId ?? newIds.get(index);
    return id === undefined ? [] : [{ index, id }];
  });
  return { saved, changed, isFull: changed.length < unsaved.length, left };
}

/**
 * Deletes the first requests with these indexes, saved or unsaved: as many as one transaction may. Returns their ids,
 * and the indexes that are left for the next call.
 */
async function deleteSome(transaction: EngineTransaction, endpointId: number, indexes: readonly number[]) {
  const bounds = await lockEndpoint(transaction, endpointId, 'alone');
  if (bounds === undefined) return { ids: [], left: [] };
  const { rows, left } = await firstRows(transaction, endpointId, bounds, indexes);
  if (rows.length > 0) await deleteRows(transaction, endpointId, bounds, rows);
  return { ids: rows.map(({ index, savedId }) => savedId ?? unsavedId(index)), left };
}

/** Hides all requests for `purgeSome` to remove. Returns the index after them; `undefined` if there is no endpoint. */
async function clearRequests(transaction: EngineTransaction, endpointId: number): Promise<number | undefined> {
  const bounds = await lockEndpoint(transaction, endpointId, 'alone');
  if (bounds === undefined) return undefined;
  await transaction
    .updateTable('endpoints')
    .set({
      first_index: bounds.next_index,
      saved_count: 0,
      unsaved_count: 0,
      spared_count: 0,
      dropped_count: 0,
      planned_to: bounds.planned_to === null ? null : bounds.next_index,
      latest_at: null,
    })
    .where('id', '=', endpointId)
    .execute();
  await transaction
    .deleteFrom('deliveries')
    .where(keyRange('request_key', endpointId, 0, bounds.next_index))
    .execute();
  await purgeLater(transaction, endpointId, bounds);
  return bounds.next_index;
}

/** A request that is no longer stored. */
export type LostRequest = Pick<RequestRecord, 'index' | 'method' | 'receivedAt' | 'head' | 'body'>;

/**
 * A time between those of the stored requests before and after a dropped one, because lists and searches rely on both
 * orders.
 */
async function timeInOrder(
  transaction: DatabaseTransaction,
  endpointId: number,
  { first_index, next_index }: Bounds,
  { index, receivedAt }: LostRequest,
): Promise<number> {
  const before = await newestTime(transaction, endpointId, { first_index, next_index: index });
  const after = await transaction
    .selectFrom('captured_requests')
    .select('received_at')
    .where(keyRange('key', endpointId, index + 1, next_index))
    .orderBy('key', 'asc')
    .limit(1)
    .executeTakeFirst();
  return Math.min(after?.received_at ?? Infinity, Math.max(before ?? 0, receivedAt));
}

/** True if both have the same method, head and body. The time of a restored request may have been changed. */
function isSame(stored: RequestRecord, { method, head, body }: LostRequest): boolean {
  const bytes = (part: Uint8Array | null): Buffer => Buffer.from(part ?? []);
  return stored.method === method && bytes(stored.head).equals(head) && bytes(stored.body).equals(body ?? bytes(null));
}

/**
 * Stores a dropped request again, as a saved one with its old index. Its time is changed if it does not fit the index.
 * A request that is still stored is saved; `other` when it is not the given one. `undefined` when the endpoint never had
 * this index or was cleared since.
 */
async function restoreRequest(transaction: EngineTransaction, endpointId: number, lost: LostRequest, maxSaved: number) {
  const bounds = await lockEndpoint(transaction, endpointId, 'change');
  if (bounds === undefined || lost.index < bounds.first_index || lost.index >= bounds.next_index) return undefined;
  const stored = await findByRef(transaction, endpointId, lost);
  if (stored !== undefined) {
    if (!isSame(stored, lost)) return 'other';
    return saveRequest(transaction, endpointId, lost.index, { maxSaved, bodyBytes: BODY_PREVIEW_BYTES });
  }
  if (bounds.saved_count >= maxSaved) return 'limit';
  const [savedId = null] = await transaction.engine.takeSavedIds(transaction, 1);
  const { index, method, head } = lost;
  const receivedAt = await timeInOrder(transaction, endpointId, bounds, lost);
  const size = lost.body?.length ?? 0;
  const body = size === 0 ? null : lost.body;
  const key = requestKey(endpointId, index);
  await transaction
    .insertInto('captured_requests')
    .values({ key, saved_id: savedId, method, received_at: receivedAt, head, body })
    .execute();
  await changeMethodCounts(transaction, endpointId, [{ method, stored: 1, bytes: size }]);
  await transaction
    .updateTable('endpoints')
    .set({
      saved_count: sql`saved_count + 1`,
      dropped_count: sql`case when dropped_count > 0 then dropped_count - 1 else 0 end`,
      latest_at: await newestTime(transaction, endpointId, bounds),
    })
    .where('id', '=', endpointId)
    .execute();
  return { record: { endpointId, index, savedId, method, receivedAt, head, body, size }, changed: true };
}

export const requestChangeQueries = {
  saveRequest: write(inTransaction(saveRequest)),
  saveSome: write(inTransaction(saveSome)),
  deleteRequest: freeing(inTransaction(deleteRequest)),
  deleteSome: freeing(inTransaction(deleteSome)),
  clearRequests: freeing(inTransaction(clearRequests)),
  restoreRequest: write(inTransaction(restoreRequest)),
};
