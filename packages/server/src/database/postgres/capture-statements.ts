import type { ClientBase, QueryResultRow } from 'pg';
import { z } from 'zod';
import { MAX_TRIMMED_BYTES, methodChanges, receiptSchema } from '../write-captures.ts';
import type { CaptureStatements, EndpointReceipt, EndpointWrite, LockedEndpoint } from '../write-captures.ts';
import type { PackedCaptures } from '../packed-captures.ts';
import { INDEX_SPAN } from '../stored-request.ts';

/**
 * The state of an endpoint. `xmin` is the transaction that wrote its row last: every transaction that changes its
 * requests writes the row. One that changes deliveries may only lock it.
 */
const ENDPOINT_STATE = `e.id as "endpointId", e.xmin as version, e.next_index as "nextIndex",
  greatest(e.first_index, e.trimmed_to) as "trimFrom", e.autosave = 1 as autosave, e.saved_count as "savedCount",
  e.unsaved_count as "unsavedCount", e.spared_count as "sparedCount", e.planned_to as "plannedTo",
  e.has_deliveries = 1 as "hasDeliveries", e.latest_at as "latestAt"`;

/** Locks rows in the order of ids, so that two processes can't deadlock. */
const LOCK_ENDPOINTS = {
  name: 'lock-endpoints',
  text: `select ${ENDPOINT_STATE} from endpoints e where id = any($1::bigint[]) order by id for no key update`,
};
const TAKE_SAVED_IDS = {
  name: 'take-saved-ids',
  text: `select nextval('saved_request_ids') as id from generate_series(1, $1::int)`,
};

/**
 * Writes a batch in one statement (docs/decisions/0004-storage.md). $1 to $11 have an element per endpoint, $12 to $15
 * per endpoint and method, $16 to $22 per capture. If an endpoint has another version than given, it writes nothing and
 * returns no row.
 */
function writeStatement({ hasDeliveries }: { readonly hasDeliveries: boolean }): string {
  const isSpared = `case when g.has_deliveries = 0 then false
      else key >= (g.id << 32) + g.planned_to or exists (select from deliveries where request_key = key) end`;
  const deleteDeliveries = `deleted_attempts as (delete from delivery_attempts where request_key = any(array(select key from deleting))),
  deleted_latest as (delete from latest_deliveries where request_key = any(array(select key from deleting))),`;
  return `with wanted as materialized (select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bigint[], $11::xid[])
    as g (id, trim_from, trim_count, next_index, latest_at, saved_count, unsaved_count, spared_count, planned_to, has_deliveries, version)),
  locked as materialized (select e.id from wanted w join endpoints e on e.id = w.id and e.xmin = w.version order by e.id for no key update of e),
  unchanged as materialized (select where (select count(*) from locked) = cardinality($1::bigint[])),
  given as materialized (select wanted.* from wanted, unchanged),
  listed as materialized (select g.id, r.*, sum(r.size) over (order by r.key) - r.size >= ${MAX_TRIMMED_BYTES} as is_left from given g cross join lateral (
    select key, method, coalesce(octet_length(body), 0) as size, ${hasDeliveries ? isSpared : 'false'} as spared from captured_requests
    where key >= (g.id << 32) + g.trim_from and key < (g.id + 1) << 32 and saved_id is null order by key limit g.trim_count) r),
  trimmed as materialized (select id, max(key & 4294967295) filter (where not is_left) + 1 as trimmed_to,
    count(*) filter (where spared and not is_left) as spared, count(*) filter (where is_left) as left_over from listed group by id),
  deleting as materialized (select * from listed where not spared and not is_left),
  deleted as (delete from captured_requests where key = any(array(select key from deleting))),
  ${hasDeliveries ? deleteDeliveries : ''}
  changes as (select id, method, sum(stored)::bigint as stored, sum(bytes)::bigint as bytes from (
    select a.* from unnest($12::bigint[], $13::text[], $14::bigint[], $15::bigint[]) as a (id, method, stored, bytes), unchanged
    union all select id, method, -1, -size from deleting) c group by id, method),
  counted as (insert into endpoint_method_counts as m (endpoint_id, method, stored, bytes) select * from changes where stored <> 0 or bytes <> 0
    on conflict (endpoint_id, method) do update set stored = m.stored + excluded.stored, bytes = m.bytes + excluded.bytes),
  recorded as (insert into capture_batches (id, receipts) select unnest($23::uuid[]), $24 from unchanged),
  inserted as (insert into captured_requests (key, saved_id, method, received_at, head, body)
    select key, nullif(saved_id, 0), method, received_at, substr($25::bytea, at, head_length),
      case when body_length > 0 then substr($25::bytea, at + head_length, body_length) end
    from unnest($16::bigint[], $17::bigint[], $18::text[], $19::bigint[], $20::int[], $21::int[], $22::int[])
      as t (key, saved_id, method, received_at, at, head_length, body_length), unchanged)
  update endpoints e set next_index = g.next_index, latest_at = g.latest_at, saved_count = g.saved_count,
    unsaved_count = g.unsaved_count + coalesce(t.spared + t.left_over, 0), spared_count = g.spared_count + coalesce(t.spared, 0),
    dropped_count = e.dropped_count + (g.next_index - e.next_index) - (g.saved_count - e.saved_count) - (g.unsaved_count - e.unsaved_count)
      - coalesce(t.spared + t.left_over, 0),
    trimmed_to = greatest(e.trimmed_to, t.trimmed_to)
  from given g left join trimmed t on t.id = g.id where e.id = g.id
  returning ${ENDPOINT_STATE}, coalesce(t.left_over, 0) > 0 as "isOverfull"`;
}

const WRITE = { name: 'write', text: writeStatement({ hasDeliveries: false }) };
/** A separate statement, because PostgreSQL also executes the parts of a statement that match no row. */
const WRITE_BESIDE_DELIVERIES = { name: 'write-beside-deliveries', text: writeStatement({ hasDeliveries: true }) };

/**
 * Statements are planned once per connection, because planning took half of a batch's time. The plan must not depend on
 * the present table sizes, so rows are always looked up by key.
 */
export const CAPTURE_SETTINGS =
  'set plan_cache_mode = force_generic_plan; set enable_hashjoin = off; set enable_mergejoin = off';

/** Like `Promise.all`, but waits until all have settled, then rejects with the first failure. */
async function allOf<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** An endpoint as the connection read or wrote it last. */
interface KnownEndpoint extends LockedEndpoint {
  /** The transaction that wrote its row. */
  readonly version: string;
  /** It has no deliveries, and no other transaction wrote it between the last two batches of the connection. */
  readonly isOurs: boolean;
}

interface WrittenEndpoint extends KnownEndpoint {
  /** The limit of bytes left some of its requests. */
  readonly isOverfull: boolean;
}

/** The endpoints that a connection wrote, by id. */
export type KnownEndpoints = Map<number, KnownEndpoint>;

const MAX_KNOWN = 10_000;

function isOurs({ endpointId, version, hasDeliveries }: KnownEndpoint, known: KnownEndpoints): boolean {
  return !hasDeliveries && known.get(endpointId)?.version === version;
}

/** Another transaction changed an endpoint of the batch. Nothing was written. */
export class EndpointsChanged extends Error {
  override readonly name = 'EndpointsChanged';
}

/**
 * The statements of one batch. If only this connection wrote its endpoints recently, the batch is one statement. If that
 * was wrong, it fails with `EndpointsChanged` and is written again. Otherwise `begin` is sent with the lock of the
 * endpoints, and `commit` with the rows. `onCommit` is called before the commit is sent.
 */
export function postgresCaptureStatements(
  { client, known }: { readonly client: ClientBase; readonly known: KnownEndpoints },
  batch: PackedCaptures,
  onCommit: () => void,
): CaptureStatements {
  const endpoints = new Map<number, KnownEndpoint>();
  let isLocked = false;
  return {
    async lockEndpoints(endpointIds) {
      for (const endpointId of endpointIds) {
        const endpoint = known.get(endpointId);
        if (endpoint?.isOurs) endpoints.set(endpointId, endpoint);
      }
      if (endpoints.size < endpointIds.length) {
        isLocked = true;
        const [, { rows }] = await allOf([
          client.query('begin'),
          client.query<KnownEndpoint & QueryResultRow>({ ...LOCK_ENDPOINTS, values: [int8Array(endpointIds)] }),
        ]);
        endpoints.clear();
        for (const row of rows) endpoints.set(row.endpointId, { ...row, isOurs: isOurs(row, known) });
      }
      return [...endpoints.values()];
    },
    async takeSavedIds(count) {
      const { rows } = await client.query<{ id: number }>({ ...TAKE_SAVED_IDS, values: [count] });
      return rows.map((row) => row.id).toSorted((a, b) => a - b);
    },
    async write(writes, receipts) {
      onCommit();
      const statement = writes.some(({ endpoint }) => endpoint.hasDeliveries) ? WRITE_BESIDE_DELIVERIES : WRITE;
      const values = [...counterValues(writes, endpoints), ...batchValues(batch, writes, receipts)];
      const written = client.query<WrittenEndpoint & QueryResultRow>({ ...statement, values });
      // After a failed statement the commit is a rollback.
      const [{ rows }, committed] = await allOf([written, isLocked ? client.query('commit') : written]);
      if (isLocked && committed.command !== 'COMMIT') throw new Error('PostgreSQL rolled the batch back.');
      if (rows.length < writes.length) {
        for (const endpointId of endpoints.keys()) known.delete(endpointId);
        throw new EndpointsChanged('Another transaction changed an endpoint of the batch.');
      }
      if (known.size > MAX_KNOWN) known.clear();
      for (const { isOverfull: _, ...row } of rows)
        known.set(row.endpointId, { ...row, isOurs: endpoints.get(row.endpointId)?.isOurs === true });
      return rows.flatMap(({ endpointId, isOverfull }) => (isOverfull ? [endpointId] : []));
    },
  };
}

function batchValues(
  { id, joinedIds, bytes }: PackedCaptures,
  writes: readonly EndpointWrite[],
  receipts: readonly EndpointReceipt[],
): unknown[] {
  const rows = writes.flatMap((write) => write.captures);
  return [
    keyArray(rows),
    int8Array(rows.map((row) => row.savedId ?? 0)),
    rows.map((row) => row.method),
    int8Array(rows.map((row) => row.receivedAt)),
    // SQL counts from 1.
    int4Array(rows.map((row) => row.head.byteOffset - bytes.byteOffset + 1)),
    int4Array(rows.map((row) => row.head.length)),
    int4Array(rows.map((row) => row.body?.length ?? 0)),
    joinedIds ?? [id],
    // Joined batches were acknowledged before, so no sender waits for their outcome.
    JSON.stringify(joinedIds === undefined ? receipts : []),
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  ];
}

function counterValues(writes: readonly EndpointWrite[], endpoints: ReadonlyMap<number, KnownEndpoint>): unknown[] {
  const added = writes.flatMap((write) =>
    methodChanges(write.captures, []).map((count) => ({ ...count, endpointId: write.endpoint.endpointId })),
  );
  return [
    int8Array(writes.map(({ endpoint }) => endpoint.endpointId)),
    int8Array(writes.map(({ endpoint }) => endpoint.trimFrom)),
    int8Array(writes.map((write) => write.trimCount)),
    int8Array(writes.map((write) => write.nextIndex)),
    int8Array(writes.map((write) => write.latestAt)),
    int8Array(writes.map((write) => write.savedCount)),
    int8Array(writes.map((write) => write.unsavedCount)),
    int8Array(writes.map(({ endpoint }) => endpoint.sparedCount)),
    int8Array(writes.map(({ endpoint }) => endpoint.plannedTo ?? INDEX_SPAN)),
    int8Array(writes.map(({ endpoint }) => (endpoint.hasDeliveries ? 1 : 0))),
    writes.map(({ endpoint }) => endpoints.get(endpoint.endpointId)?.version),
    int8Array(added.map((count) => count.endpointId)),
    added.map((count) => count.method),
    int8Array(added.map((count) => count.stored)),
    int8Array(added.map((count) => count.bytes)),
  ];
}

/** Of a binary array: the number of dimensions, the null flag, the element type, the length, and the lower bound. */
const ARRAY_HEADER_BYTES = 20;
/** The types of elements, by their numbers in `pg_type`. */
const INT8 = 20;
const INT4 = 23;

/** A binary array of 64-bit integers: half the cost of text for both sides (docs/decisions/0004-storage.md). */
function int8Array(values: readonly number[]): Buffer {
  return binaryArray(INT8, 8, values, (buffer, value, at) => {
    buffer.writeInt32BE(Math.floor(value / 4_294_967_296), at);
    buffer.writeUInt32BE(value % 4_294_967_296, at + 4);
  });
}

/** A binary array of 32-bit integers. */
function int4Array(values: readonly number[]): Buffer {
  return binaryArray(INT4, 4, values, (buffer, value, at) => void buffer.writeInt32BE(value, at));
}

/** A binary array of request keys: the endpoint's id and the index. */
function keyArray(rows: readonly { readonly endpointId: number; readonly index: number }[]): Buffer {
  return binaryArray(INT8, 8, rows, (buffer, row, at) => {
    buffer.writeInt32BE(row.endpointId, at);
    buffer.writeUInt32BE(row.index, at + 4);
  });
}

function binaryArray<T>(
  type: number,
  size: number,
  values: readonly T[],
  write: (buffer: Buffer, value: T, at: number) => void,
): Buffer {
  const buffer = Buffer.allocUnsafe(ARRAY_HEADER_BYTES + values.length * (4 + size));
  [1, 0, type, values.length, 1].forEach((word, nth) => buffer.writeInt32BE(word, nth * 4));
  values.forEach((value, nth) => {
    const at = ARRAY_HEADER_BYTES + nth * (4 + size);
    buffer.writeInt32BE(size, at);
    write(buffer, value, at + 4);
  });
  return buffer;
}

const receiptsSchema = z.array(receiptSchema);

/** The outcomes of the batches that are stored, by id. */
export async function findReceipts(
  client: ClientBase,
  batchIds: readonly string[],
): Promise<ReadonlyMap<string, readonly EndpointReceipt[]>> {
  const { rows } = await client.query<{ id: string; receipts: string }>(
    'select id, receipts from capture_batches where id = any($1::uuid[])',
    [batchIds],
  );
  return new Map(rows.map(({ id, receipts }) => [id, receiptsSchema.parse(JSON.parse(receipts))]));
}
