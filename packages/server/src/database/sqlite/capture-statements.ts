import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { methodChanges } from '../write-captures.ts';
import { requestKeyValue } from '../request-key.ts';
import type { MethodCount } from '../store.ts';
import type { CaptureStatements, EndpointWrite, LockedEndpoint } from '../write-captures.ts';

const LOCK_ENDPOINTS =
  'select next_index, max(first_index, trimmed_to) as trim_from, autosave, saved_count, unsaved_count, latest_at from endpoints where id = ?';
const TAKE_SAVED_IDS = `update counters set value = value + ? where name = 'saved_id' returning value`;
const INSERT =
  'insert into captured_requests (key, saved_id, method, received_at, head, body) values (?, ?, ?, ?, ?, ?)';
/** The number of rows in a range of keys, and how many of them have a method. */
const RANGE = `select count(*) as stored, sum(method = ?) as of_method, coalesce(sum(length(body)), 0) as bytes from captured_requests
  where key >= ? and key < ? and saved_id is null`;
const OLDEST = `select method, count(*) as stored, sum(size) as bytes, max(key) & 4294967295 as last_index from (
  select key, method, coalesce(length(body), 0) as size from captured_requests
  where key >= ? and key < ? and saved_id is null order by key limit ?) group by method`;
const DELETE_UNSAVED = 'delete from captured_requests where key >= ? and key < ? and saved_id is null';
const ADD_METHOD_COUNT = `insert into endpoint_method_counts (endpoint_id, method, stored, bytes) values (?, ?, ?, ?)
  on conflict (endpoint_id, method) do update set stored = stored + excluded.stored, bytes = bytes + excluded.bytes`;
/** A capture that is neither saved nor unsaved after the batch was dropped. The right sides read the old values. */
const UPDATE_COUNTERS = `update endpoints set next_index = ?1, latest_at = ?2, saved_count = ?3, unsaved_count = ?4,
  dropped_count = dropped_count + (?1 - next_index) - (?3 - saved_count) - (?4 - unsaved_count), trimmed_to = max(trimmed_to, ?5)
  where id = ?6`;

function integer(value: SQLOutputValue | undefined): number {
  return Number(value);
}

/** The writer is the only one, and in a transaction, so reading the row is enough. */
function lockWith(select: StatementSync) {
  return (endpointId: number): LockedEndpoint[] => {
    const row = select.get(endpointId);
    if (row === undefined) return [];
    return [
      {
        endpointId,
        nextIndex: integer(row.next_index),
        trimFrom: integer(row.trim_from),
        autosave: row.autosave === 1,
        savedCount: integer(row.saved_count),
        unsavedCount: integer(row.unsaved_count),
        latestAt: row.latest_at === null ? null : integer(row.latest_at),
      },
    ];
  };
}

interface Trimmed {
  readonly byMethod: readonly MethodCount[];
  /** The index after the last of them. */
  readonly to: number;
}

/**
 * The oldest unsaved requests. Usually they are consecutive and all have the batch's method. One pass detects that at
 * 40% of the cost of the general query, which sorts.
 */
function oldestWith(range: StatementSync, oldest: StatementSync) {
  return (write: EndpointWrite, likelyMethod: string | undefined): Trimmed => {
    const { endpointId, trimFrom, trimCount: count } = write;
    const from = requestKeyValue(endpointId, trimFrom);
    if (likelyMethod !== undefined) {
      const row = range.get(likelyMethod, from, requestKeyValue(endpointId, trimFrom + count));
      if (row?.stored === count && row.of_method === count)
        return { byMethod: [{ method: likelyMethod, stored: count, bytes: integer(row.bytes) }], to: trimFrom + count };
    }
    const rows = oldest.all(from, requestKeyValue(endpointId + 1, 0), count);
    return {
      byMethod: rows.map((row) => ({
        method: String(row.method),
        stored: integer(row.stored),
        bytes: integer(row.bytes),
      })),
      to: Math.max(trimFrom, ...rows.map((row) => integer(row.last_index) + 1)),
    };
  };
}

const NOTHING: Trimmed = { byMethod: [], to: 0 };

/** Deletes the oldest unsaved requests and returns what was deleted. */
function trimWith(oldestOf: ReturnType<typeof oldestWith>, deleteUnsaved: StatementSync) {
  return (write: EndpointWrite): Trimmed => {
    if (write.trimCount === 0) return NOTHING;
    const first = write.captures[0]?.method;
    const isOneMethod = write.captures.every((capture) => capture.method === first);
    const trimmed = oldestOf(write, isOneMethod ? first : undefined);
    deleteUnsaved.run(requestKeyValue(write.endpointId, write.trimFrom), requestKeyValue(write.endpointId, trimmed.to));
    return trimmed;
  };
}

/** The statements of a batch, prepared once. No query builder on the hot path. */
export function sqliteCaptureStatements(database: DatabaseSync): CaptureStatements {
  const lockEndpoint = lockWith(database.prepare(LOCK_ENDPOINTS));
  const takeSavedIds = database.prepare(TAKE_SAVED_IDS);
  const insert = database.prepare(INSERT);
  const oldestOf = oldestWith(database.prepare(RANGE), database.prepare(OLDEST));
  const trim = trimWith(oldestOf, database.prepare(DELETE_UNSAVED));
  const addMethodCount = database.prepare(ADD_METHOD_COUNT);
  const settle = database.prepare(UPDATE_COUNTERS);
  return {
    lockEndpoints: (endpointIds) => endpointIds.flatMap(lockEndpoint),
    takeSavedIds(count) {
      const last = integer(takeSavedIds.get(count)?.value);
      return Array.from({ length: count }, (_, nth) => last - count + 1 + nth);
    },
    write(writes) {
      for (const write of writes) {
        // Deletes first, so that the new rows reuse the freed pages: each page is written once per commit.
        const trimmed = trim(write);
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
        for (const count of methodChanges(write.captures, trimmed.byMethod))
          addMethodCount.run(write.endpointId, count.method, count.stored, count.bytes);
        settle.run(write.nextIndex, write.latestAt, write.savedCount, write.unsavedCount, trimmed.to, write.endpointId);
      }
    },
  };
}
