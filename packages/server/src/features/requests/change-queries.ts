import { BODY_PREVIEW_BYTES, unsavedId } from '@creel/contract';
import { sql } from 'kysely';
import { inChunks } from '../../database/engine.ts';
import { freeing, inTransaction, write } from '../../database/remote.ts';
import type { EngineTransaction } from '../../database/remote.ts';
import { indexOfKey, keyRange, removeDeliveries, requestKey } from '../../database/stored-request.ts';
import type { RequestRef, RequestRecord } from '../../database/stored-request.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { methodChanges } from '../../database/write-captures.ts';
import {
  SIZE,
  changeMethodCounts,
  lockEndpoint,
  newestTime,
  oneRequest,
  purgeLater,
  toRequestRecord,
} from './queries.ts';
import type { Bounds } from './queries.ts';

/** `changed` is false if the request was saved already. `limit` when the endpoint has its maximum of saved requests. */
export type SaveResult = { readonly record: RequestRecord; readonly changed: boolean } | 'limit' | undefined;

/** 1 for an unsaved request that the trim spared because of its deliveries. */
function sparedCount(index: number, bounds: Bounds): number {
  return index < bounds.trimmed_to ? 1 : 0;
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
  const row = await oneRequest(transaction, endpointId, { index }, bodyBytes).executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.saved_id !== null) return { record: toRequestRecord(endpointId, row), changed: false };
  if (bounds.saved_count >= maxSaved) return 'limit';
  const savedId = await transaction.engine.takeSavedId(transaction);
  await transaction
    .updateTable('captured_requests')
    .set({ saved_id: savedId })
    .where('key', '=', requestKey(endpointId, index))
    .execute();
  await transaction
    .updateTable('endpoints')
    .set({
      saved_count: sql`saved_count + 1`,
      unsaved_count: sql`unsaved_count - 1`,
      spared_count: sql`spared_count - ${sparedCount(index, bounds)}`,
    })
    .where('id', '=', endpointId)
    .execute();
  return { record: toRequestRecord(endpointId, { ...row, saved_id: savedId }), changed: true };
}

/** A row that is about to be deleted. */
interface DeletedRow {
  readonly index: number;
  readonly saved_id: number | null;
  readonly method: string;
  readonly size: number;
}

/** Deletes stored requests of a locked endpoint with their deliveries, and corrects its counters. */
async function deleteRows(
  transaction: EngineTransaction,
  endpointId: number,
  bounds: Bounds,
  rows: readonly DeletedRow[],
): Promise<void> {
  await inChunks(rows, async (chunk) => {
    const keys = chunk.map(({ index }) => requestKey(endpointId, index));
    await transaction.deleteFrom('captured_requests').where('key', 'in', keys).execute();
    await removeDeliveries(transaction, sql`request_key in (${sql.join(keys)})`);
    return [];
  });
  const counts = rows.map(({ method, size }) => ({ method, stored: 1, bytes: size }));
  await changeMethodCounts(transaction, endpointId, methodChanges([], counts));
  const unsaved = rows.filter(({ saved_id }) => saved_id === null);
  const spared = unsaved.reduce((sum, { index }) => sum + sparedCount(index, bounds), 0);
  await transaction
    .updateTable('endpoints')
    .set({
      saved_count: sql`saved_count - ${rows.length - unsaved.length}`,
      unsaved_count: sql`unsaved_count - ${unsaved.length}`,
      spared_count: sql`spared_count - ${spared}`,
      latest_at: await newestTime(transaction, endpointId, bounds),
    })
    .where('id', '=', endpointId)
    .execute();
}

/** False when there was no such request. */
async function deleteRequest(transaction: EngineTransaction, endpointId: number, ref: RequestRef): Promise<boolean> {
  const bounds = await lockEndpoint(transaction, endpointId, 'alone');
  if (bounds === undefined) return false;
  const row = await oneRequest(transaction, endpointId, ref, 0).executeTakeFirst();
  if (row === undefined || ('index' in ref && row.saved_id !== null)) return false;
  await deleteRows(transaction, endpointId, bounds, [row]);
  return true;
}

/** Maximum requests and bytes of bodies that one transaction deletes, because captures wait for it. */
const MAX_DELETED_ROWS = 128;
const MAX_DELETED_BYTES = 8 * 1024 * 1024;

/**
 * Deletes the first requests with these indexes, saved or unsaved: as many as one transaction may. Returns their ids,
 * and the indexes that are left for the next call.
 */
async function deleteSome(transaction: EngineTransaction, endpointId: number, indexes: readonly number[]) {
  const bounds = await lockEndpoint(transaction, endpointId, 'alone');
  if (bounds === undefined) return { ids: [], left: [] };
  const isPossible = (index: number): boolean => index >= bounds.first_index && index < bounds.next_index;
  // A repeated index would be counted twice.
  const candidates = new Set(indexes.slice(0, MAX_DELETED_ROWS));
  const rows = await inChunks([...candidates].filter(isPossible), (chunk) =>
    transaction
      .selectFrom('captured_requests')
      .select([indexOfKey.as('index'), 'saved_id', 'method', SIZE.as('size')])
      .where(
        'key',
        'in',
        chunk.map((index) => requestKey(endpointId, index)),
      )
      .execute(),
  );
  let bytes = 0;
  const tooMany = rows.findIndex(({ size }, nth) => (bytes += size) > MAX_DELETED_BYTES && nth > 0);
  const [deleted, kept] = tooMany < 0 ? [rows, []] : [rows.slice(0, tooMany), rows.slice(tooMany)];
  if (deleted.length > 0) await deleteRows(transaction, endpointId, bounds, deleted);
  return {
    ids: deleted.map(({ index, saved_id }) => saved_id ?? unsavedId(index)),
    left: [...kept.map(({ index }) => index), ...indexes.slice(MAX_DELETED_ROWS)],
  };
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
  const stored = await oneRequest(transaction, endpointId, lost).executeTakeFirst();
  if (stored !== undefined) {
    if (!isSame(toRequestRecord(endpointId, stored), lost)) return 'other';
    return saveRequest(transaction, endpointId, lost.index, { maxSaved, bodyBytes: BODY_PREVIEW_BYTES });
  }
  if (bounds.saved_count >= maxSaved) return 'limit';
  const savedId = await transaction.engine.takeSavedId(transaction);
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
  deleteRequest: freeing(inTransaction(deleteRequest)),
  deleteSome: freeing(inTransaction(deleteSome)),
  clearRequests: freeing(inTransaction(clearRequests)),
  restoreRequest: write(inTransaction(restoreRequest)),
};
