import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { requestKeyValue } from '../request-key.ts';
import type { CaptureStatements, NewCapture } from '../write-captures.ts';

const RESERVE = `update endpoints set next_index = next_index + ?, latest_at = ? where id = ?
  returning next_index, first_index, autosave, saved_count, unsaved_count`;
const TAKE_SAVED_IDS = `update counters set value = value + ? where name = 'saved_id' returning value`;
const INSERT = 'insert into captured_requests (key, saved_id, method, received_at, head, body) values (?, ?, ?, ?, ?, ?)';
const OLDEST = `select method, count(*) as stored, sum(size) as bytes, max(key) as last from (
  select key, method, coalesce(length(body), 0) as size from captured_requests
  where key >= ? and key < ? and saved_id is null order by key limit ?) group by method`;
const DELETE_UNSAVED = 'delete from captured_requests where key >= ? and key <= ? and saved_id is null';
const ADD_METHOD_COUNT = `insert into endpoint_method_counts (endpoint_id, method, stored, bytes) values (?, ?, ?, ?)
  on conflict (endpoint_id, method) do update set stored = stored + excluded.stored, bytes = bytes + excluded.bytes`;
const SET_COUNTS = 'update endpoints set saved_count = ?, unsaved_count = ? where id = ?';

function integer(value: SQLOutputValue | undefined): number {
  return Number(value);
}

/** The statements of a batch, prepared once. The hot path: no query builder between a capture and its row. */
export function sqliteCaptureStatements(database: DatabaseSync): CaptureStatements {
  const reserve = database.prepare(RESERVE);
  const takeSavedIds = database.prepare(TAKE_SAVED_IDS);
  const insert = database.prepare(INSERT);
  const oldest = database.prepare(OLDEST);
  oldest.setReadBigInts(true);
  const deleteUnsaved = database.prepare(DELETE_UNSAVED);
  const addMethodCount = database.prepare(ADD_METHOD_COUNT);
  const setCounts = database.prepare(SET_COUNTS);
  return {
    reserve(endpointId, count, latestAt) {
      const row = reserve.get(count, latestAt, endpointId);
      if (row === undefined) return undefined;
      return {
        first: integer(row.next_index) - count,
        floor: integer(row.first_index),
        autosave: row.autosave === 1,
        savedCount: integer(row.saved_count),
        unsavedCount: integer(row.unsaved_count),
      };
    },
    takeSavedIds(count) {
      const last = integer(takeSavedIds.get(count)?.value);
      return Array.from({ length: count }, (_, nth) => last - count + 1 + nth);
    },
    insert(captures: readonly NewCapture[]) {
      for (const row of captures) {
        insert.run(requestKeyValue(row.endpointId, row.index), row.savedId, row.method, row.receivedAt, row.head, row.body);
      }
    },
    trim(endpointId, floor, count) {
      const from = requestKeyValue(endpointId, floor);
      const rows = oldest.all(from, requestKeyValue(endpointId + 1, 0), count);
      const last = rows.map((row) => BigInt(row.last ?? 0)).reduce((a, b) => (a > b ? a : b), -1n);
      deleteUnsaved.run(from, last);
      return rows.map((row) => ({ method: String(row.method), stored: integer(row.stored), bytes: integer(row.bytes) }));
    },
    addMethodCount(endpointId, count) {
      addMethodCount.run(endpointId, count.method, count.stored, count.bytes);
    },
    setCounts(endpointId, savedCount, unsavedCount) {
      setCounts.run(savedCount, unsavedCount, endpointId);
    },
  };
}
