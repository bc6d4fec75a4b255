import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { MAX_TRIMMED_BYTES, methodChanges, writeBatch } from '../write-captures.ts';
import type { CaptureStatements, EndpointWrite, LockedEndpoint } from '../write-captures.ts';
import { requestKeyValue } from '../stored-request.ts';
import type { CaptureLimits, CaptureOutcome } from '../store.ts';
import type { MethodCount } from '../records.ts';
import type { PackedCaptures } from '../packed-captures.ts';

const LOCK_ENDPOINTS =
  'select next_index, max(first_index, trimmed_to) as trim_from, autosave, saved_count, unsaved_count, spared_count, planned_to, has_deliveries, latest_at from endpoints where id = ?';
const TAKE_SAVED_IDS = `update counters set value = value + ? where name = 'saved_id' returning value`;
const INSERT =
  'insert into captured_requests (key, saved_id, method, received_at, head, body) values (?, ?, ?, ?, ?, ?)';
/** The number of rows in a range of keys, and how many of them have a method. */
const RANGE = `select count(*) as stored, sum(method = ?) as of_method, coalesce(sum(length(body)), 0) as bytes from captured_requests
  where key >= ? and key < ? and saved_id is null`;
/** The oldest unsaved rows. Of an endpoint with deliveries, those that are pending or not planned yet are spared. */
const OLDEST = `select method, coalesce(length(body), 0) as bytes, key & 4294967295 as "index",
  case when ? then key >= ? or exists (select 1 from deliveries where request_key = key) else 0 end as spared
  from captured_requests where key >= ? and key < ? and saved_id is null order by key limit ?`;
const DELETE_ONE = [
  'delete from captured_requests where key = ?',
  'delete from delivery_attempts where request_key = ?',
  'delete from latest_deliveries where request_key = ?',
];
const DELETE_UNSAVED = 'delete from captured_requests where key >= ? and key < ? and saved_id is null';
const ADD_METHOD_COUNT = `insert into endpoint_method_counts (endpoint_id, method, stored, bytes) values (?, ?, ?, ?)
  on conflict (endpoint_id, method) do update set stored = stored + excluded.stored, bytes = bytes + excluded.bytes`;
/** A capture that is neither saved nor unsaved after the batch was dropped. The right sides read the old values. */
const UPDATE_COUNTERS = `update endpoints set next_index = ?1, latest_at = ?2, saved_count = ?3, unsaved_count = ?4,
  dropped_count = dropped_count + (?1 - next_index) - (?3 - saved_count) - (?4 - unsaved_count), spared_count = ?5,
  trimmed_to = max(trimmed_to, ?6) where id = ?7`;

/** The writer is the only one, and in a transaction, so reading the row is enough. */
function lockWith(select: StatementSync) {
  return (endpointId: number): LockedEndpoint[] => {
    const row = select.get(endpointId);
    if (row === undefined) return [];
    return [
      {
        endpointId,
        nextIndex: Number(row.next_index),
        trimFrom: Number(row.trim_from),
        autosave: row.autosave === 1,
        savedCount: Number(row.saved_count),
        unsavedCount: Number(row.unsaved_count),
        sparedCount: Number(row.spared_count),
        plannedTo: row.planned_to === null ? null : Number(row.planned_to),
        hasDeliveries: row.has_deliveries === 1,
        latestAt: row.latest_at === null ? null : Number(row.latest_at),
      },
    ];
  };
}

interface Trimmed {
  readonly byMethod: readonly MethodCount[];
  /** The index after the last of them. */
  readonly to: number;
  /** How many of them were not deleted. */
  readonly spared: number;
  /** How many more were to be trimmed, but for the limit of bytes. */
  readonly left: number;
}

const NOTHING: Trimmed = { byMethod: [], to: 0, spared: 0, left: 0 };

/** Deletes the oldest unsaved requests, except those that wait for deliveries, and returns what was deleted. */
function trimWith(database: DatabaseSync) {
  const range = database.prepare(RANGE);
  const oldest = database.prepare(OLDEST);
  const deleteUnsaved = database.prepare(DELETE_UNSAVED);
  const deletions = DELETE_ONE.map((text) => database.prepare(text));
  return ({ endpoint, captures, trimCount: count }: EndpointWrite, maxBytes: number): Trimmed => {
    if (count === 0) return NOTHING;
    if (maxBytes <= 0) return { ...NOTHING, left: count };
    const { endpointId, trimFrom, plannedTo, hasDeliveries } = endpoint;
    const keyOf = (index: number): bigint => requestKeyValue(endpointId, index);
    const method = captures[0]?.method;
    // Usually they are consecutive and all have the batch's method. One pass detects that faster than a list.
    if (!hasDeliveries && method !== undefined && captures.every((capture) => capture.method === method)) {
      const row = range.get(method, keyOf(trimFrom), keyOf(trimFrom + count));
      if (row?.stored === count && row.of_method === count && Number(row.bytes) <= maxBytes) {
        const to = trimFrom + count;
        deleteUnsaved.run(keyOf(trimFrom), keyOf(to));
        return { byMethod: [{ method, stored: count, bytes: Number(row.bytes) }], to, spared: 0, left: 0 };
      }
    }
    const end = requestKeyValue(endpointId + 1, 0);
    const planned = plannedTo === null ? end : keyOf(plannedTo);
    const all = oldest.all(Number(hasDeliveries), planned, keyOf(trimFrom), end, count);
    const rows: typeof all = [];
    let bytes = 0;
    for (const row of all) {
      if (bytes >= maxBytes) break;
      bytes += Number(row.bytes);
      rows.push(row);
    }
    const removed = rows.filter((row) => row.spared === 0);
    const to = rows.length === 0 ? trimFrom : Number(rows.at(-1)?.index) + 1;
    if (hasDeliveries)
      for (const { index } of removed) for (const deletion of deletions) deletion.run(keyOf(Number(index)));
    else deleteUnsaved.run(keyOf(trimFrom), keyOf(to));
    return {
      byMethod: removed.map((row) => ({ method: String(row.method), stored: 1, bytes: Number(row.bytes) })),
      to,
      spared: rows.length - removed.length,
      left: all.length - rows.length,
    };
  };
}

/** The statements of a batch, prepared once. No query builder on the hot path. */
export function sqliteCaptureStatements(database: DatabaseSync): CaptureStatements {
  const lockEndpoint = lockWith(database.prepare(LOCK_ENDPOINTS));
  const takeSavedIds = database.prepare(TAKE_SAVED_IDS);
  const insert = database.prepare(INSERT);
  const trim = trimWith(database);
  const addMethodCount = database.prepare(ADD_METHOD_COUNT);
  const updateCounters = database.prepare(UPDATE_COUNTERS);
  return {
    lockEndpoints: (endpointIds) => endpointIds.flatMap(lockEndpoint),
    takeSavedIds(count) {
      const last = Number(takeSavedIds.get(count)?.value);
      return Array.from({ length: count }, (_, nth) => last - count + 1 + nth);
    },
    write(writes) {
      let trimmedBytes = 0;
      const overfull: number[] = [];
      for (const write of writes) {
        const { endpointId, sparedCount } = write.endpoint;
        // Deletes first, so that the new rows reuse the freed pages: each page is written once per commit.
        const trimmed = trim(write, MAX_TRIMMED_BYTES - trimmedBytes);
        trimmedBytes += trimmed.byMethod.reduce((sum, { bytes }) => sum + bytes, 0);
        if (trimmed.left > 0) overfull.push(endpointId);
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
          addMethodCount.run(endpointId, count.method, count.stored, count.bytes);
        updateCounters.run(
          write.nextIndex,
          write.latestAt,
          write.savedCount,
          write.unsavedCount + trimmed.spared + trimmed.left,
          sparedCount + trimmed.spared,
          trimmed.to,
          endpointId,
        );
      }
      return overfull;
    },
  };
}

/** Writes a batch in one transaction. When it throws, nothing was written. */
export async function commitBatch(
  database: DatabaseSync,
  statements: CaptureStatements,
  batch: PackedCaptures,
  limits: CaptureLimits,
): Promise<CaptureOutcome> {
  database.exec('begin immediate');
  try {
    const outcome = await writeBatch(statements, batch, limits);
    database.exec('commit');
    return outcome;
  } catch (error) {
    // On a full disk SQLite has already rolled back.
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
