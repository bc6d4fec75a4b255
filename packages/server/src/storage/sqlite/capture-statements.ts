import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { methodChanges } from '../method-changes.ts';
import { requestKeyValue } from '../request-key.ts';
import type { MethodCount } from '../store.ts';
import type { CaptureStatements, EndpointWrite, HeldEndpoint } from '../write-captures.ts';

const HOLD =
  'select next_index, max(first_index, trimmed_to) as trim_from, autosave, saved_count, unsaved_count from endpoints where id = ?';
const TAKE_SAVED_IDS = `update counters set value = value + ? where name = 'saved_id' returning value`;
const INSERT =
  'insert into captured_requests (key, saved_id, method, received_at, head, body) values (?, ?, ?, ?, ?, ?)';
const OLDEST = `select method, count(*) as stored, sum(size) as bytes, max(key) & 4294967295 as last_index from (
  select key, method, coalesce(length(body), 0) as size from captured_requests
  where key >= ? and key < ? and saved_id is null order by key limit ?) group by method`;
const DELETE_UNSAVED = 'delete from captured_requests where key >= ? and key <= ? and saved_id is null';
const ADD_METHOD_COUNT = `insert into endpoint_method_counts (endpoint_id, method, stored, bytes) values (?, ?, ?, ?)
  on conflict (endpoint_id, method) do update set stored = stored + excluded.stored, bytes = bytes + excluded.bytes`;
const SETTLE = `update endpoints set next_index = ?, latest_at = ?, saved_count = ?, unsaved_count = ?, trimmed_to = max(trimmed_to, ?)
  where id = ?`;

function integer(value: SQLOutputValue | undefined): number {
  return Number(value);
}

/** The writer is alone and inside its transaction: reading the row is holding it. */
function holdWith(hold: StatementSync) {
  return (endpointId: number): HeldEndpoint[] => {
    const row = hold.get(endpointId);
    if (row === undefined) return [];
    return [
      {
        endpointId,
        nextIndex: integer(row.next_index),
        trimFrom: integer(row.trim_from),
        autosave: row.autosave === 1,
        savedCount: integer(row.saved_count),
        unsavedCount: integer(row.unsaved_count),
      },
    ];
  };
}

/** Deletes the oldest unsaved requests: what went, by method, and the index behind the last of them. */
function trimWith(oldest: StatementSync, deleteUnsaved: StatementSync) {
  return (write: EndpointWrite): { trimmed: MethodCount[]; trimmedTo: number } => {
    if (write.trimCount === 0) return { trimmed: [], trimmedTo: 0 };
    const from = requestKeyValue(write.endpointId, write.trimFrom);
    const rows = oldest.all(from, requestKeyValue(write.endpointId + 1, 0), write.trimCount);
    const last = Math.max(...rows.map((row) => integer(row.last_index)));
    deleteUnsaved.run(from, requestKeyValue(write.endpointId, last));
    const trimmed = rows.map((row) => ({
      method: String(row.method),
      stored: integer(row.stored),
      bytes: integer(row.bytes),
    }));
    return { trimmed, trimmedTo: last + 1 };
  };
}

/** The statements of a batch, prepared once. The hot path: no query builder between a capture and its row. */
export function sqliteCaptureStatements(database: DatabaseSync): CaptureStatements {
  const hold = holdWith(database.prepare(HOLD));
  const takeSavedIds = database.prepare(TAKE_SAVED_IDS);
  const insert = database.prepare(INSERT);
  const trim = trimWith(database.prepare(OLDEST), database.prepare(DELETE_UNSAVED));
  const addMethodCount = database.prepare(ADD_METHOD_COUNT);
  const settle = database.prepare(SETTLE);
  return {
    hold: (endpointIds) => endpointIds.flatMap(hold),
    takeSavedIds(count) {
      const last = integer(takeSavedIds.get(count)?.value);
      return Array.from({ length: count }, (_, nth) => last - count + 1 + nth);
    },
    write(writes) {
      for (const write of writes) {
        for (const row of write.captures) {
          insert.run(
            requestKeyValue(row.endpointId, row.index),
            row.savedId,
            row.method,
            row.receivedAt,
            row.head,
            row.body,
          );
        }
        const { trimmed, trimmedTo } = trim(write);
        for (const count of methodChanges(write.captures, trimmed))
          addMethodCount.run(write.endpointId, count.method, count.stored, count.bytes);
        settle.run(write.nextIndex, write.latestAt, write.savedCount, write.unsavedCount, trimmedTo, write.endpointId);
      }
    },
  };
}
