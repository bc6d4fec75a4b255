import { lastDeliverySchema } from '@creel/contract';
import type { LastDelivery } from '@creel/contract';
import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder } from 'kysely';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { indexOfKey, keyRange, requestKey } from '../../database/stored-request.ts';
import type { RequestRef, RequestRecord } from '../../database/stored-request.ts';
import type { Database, DatabaseTransaction, Tables } from '../../database/schema.ts';
import type { MethodCount } from '../../database/records.ts';
import { inChunks } from '../../database/engine.ts';
import type { RowLock } from '../../database/engine.ts';
import { read } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';
import { LARGE_BODY_BYTES, largeBodyQueue } from '../../workers/sliced-work.ts';

/** A page of an endpoint's requests. */
export interface ListQuery {
  readonly endpointId: number;
  readonly which: 'saved' | 'unsaved' | 'any';
  readonly limit: number;
  /** Only indexes below this one. */
  readonly before?: number | undefined;
  readonly method?: string | undefined;
  /** Bytes of each body that are read. */
  readonly bodyBytes: number;
}

/** The result of `selectRequest`: the row with its key split and its body truncated. */
type RequestRow = Awaited<ReturnType<ReturnType<typeof selectRequest<object>>['executeTakeFirstOrThrow']>>;

/** The record of a selected row. */
export function toRequestRecord(endpointId: number, { latest, pending, ...row }: RequestRow): RequestRecord {
  const isPending = pending === 1;
  const delivery = latest === null && !isPending ? undefined : { last: storedLatest(latest), isPending };
  return { endpointId, ...row, delivery };
}

/** Parses the column `latest`. */
export function storedLatest(latest: string | null): LastDelivery | null {
  return latest === null ? null : lastDeliverySchema.parse(JSON.parse(latest));
}

/** SQL that returns the size without reading the body. */
export const SIZE = sql<number>`coalesce(length(body), 0)`;
/** The value of `latest_deliveries.latest`, or null without a row. */
export const LATEST_DELIVERY = sql<string | null>`(select latest from latest_deliveries where request_key = key)`;
/** 1 for a request that waits for an attempt. */
export const IS_PENDING = sql<number>`case when exists (select 1 from deliveries where request_key = key) then 1 else 0 end`;

/**
 * The columns of a request. The database truncates the body to `bodyBytes`, so that no long body is copied for a list.
 * With 0, and beyond `maxSize`, it is null and not read.
 */
export function selectRequest<O>(
  query: SelectQueryBuilder<Tables, 'captured_requests', O>,
  bodyBytes: number | undefined,
  maxSize = Number.MAX_SAFE_INTEGER,
) {
  return query.select([
    indexOfKey.as('index'),
    'saved_id as savedId',
    'method',
    'received_at as receivedAt',
    'head',
    SIZE.as('size'),
    bodyColumn(bodyBytes, maxSize).as('body'),
    LATEST_DELIVERY.as('latest'),
    IS_PENDING.as('pending'),
  ]);
}

function bodyColumn(bodyBytes: number | undefined, maxSize: number): RawBuilder<Uint8Array | null> {
  if (bodyBytes === undefined) return sql`body`;
  if (bodyBytes === 0) return sql`null`;
  return sql`case when length(body) > ${sql.lit(maxSize)} then null else substr(body, 1, ${sql.lit(bodyBytes)}) end`;
}

/**
 * Reads a page of an endpoint's requests, with the beginning of their bodies. SQLite reads the whole body for that. So
 * large ones are read one per turn of the event loop, and other users' reads proceed.
 */
export async function readRequests(
  db: EngineDatabase,
  endpointId: number,
  page: SelectQueryBuilder<Tables, 'captured_requests', object>,
  bodyBytes: number,
): Promise<RequestRecord[]> {
  const readPage = async (): Promise<RequestRecord[]> =>
    (await selectRequest(page, bodyBytes, LARGE_BODY_BYTES).execute()).map((row) => toRequestRecord(endpointId, row));
  const isLarge = ({ size }: RequestRecord): boolean => bodyBytes > 0 && size > LARGE_BODY_BYTES;
  const records = await readPage();
  if (!records.some(isLarge)) return records;
  // Reads the page again in its turn, so that calls that wait hold no bodies.
  return largeBodyQueue.run(endpointId, async () => {
    const withBodies: RequestRecord[] = [];
    for (const record of await readPage())
      withBodies.push(isLarge(record) ? await withBody(db, record, bodyBytes) : record);
    return withBodies;
  });
}

async function withBody(db: EngineDatabase, record: RequestRecord, bodyBytes: number): Promise<RequestRecord> {
  await nextTurn();
  return { ...record, body: (await bodyPart(db, record, 0, bodyBytes)) ?? null };
}

/** Up to `bytes` of a body from `start` on. `undefined` if the request was deleted meanwhile. */
async function bodyPart(
  db: Database,
  { endpointId, index }: RequestRecord,
  start: number,
  bytes: number,
): Promise<Uint8Array | null | undefined> {
  const row = await db
    .selectFrom('captured_requests')
    .select(sql<Uint8Array | null>`substr(body, ${sql.lit(start + 1)}, ${sql.lit(bytes)})`.as('part'))
    .where('key', '=', requestKey(endpointId, index))
    .executeTakeFirst();
  return row?.part;
}

/** The result of `selectBounds`. */
export type Bounds = NonNullable<Awaited<ReturnType<typeof lockEndpoint>>>;

/** Selects the indexes and counters of an endpoint's requests. */
export function selectBounds(db: Database, endpointId: number) {
  return db
    .selectFrom('endpoints')
    .select(['next_index', 'first_index', 'saved_count', 'unsaved_count', 'trimmed_to', 'planned_to'])
    .where('id', '=', endpointId);
}

/** Locks the endpoint's row until the transaction ends. `undefined` when there is none. */
export function lockEndpoint(transaction: EngineTransaction, endpointId: number, lock: RowLock) {
  return selectBounds(transaction, endpointId).modifyEnd(transaction.engine.locks[lock]).executeTakeFirst();
}

/** An upper bound of the matches. As the limit, it ends the scan at the last match, not at the table's end. */
async function maxMatches(db: Database, query: ListQuery, bounds: Bounds): Promise<number> {
  const bySaved = {
    saved: bounds.saved_count,
    unsaved: bounds.unsaved_count,
    any: bounds.saved_count + bounds.unsaved_count,
  }[query.which];
  if (query.method === undefined || bySaved === 0) return bySaved;
  const row = await db
    .selectFrom('endpoint_method_counts')
    .select('stored')
    .where('endpoint_id', '=', query.endpointId)
    .where('method', '=', query.method)
    .executeTakeFirst();
  return Math.min(bySaved, row?.stored ?? 0);
}

/** Newest first. Empty when the endpoint does not exist. */
async function listRequests(db: EngineDatabase, query: ListQuery): Promise<RequestRecord[]> {
  const bounds = await selectBounds(db, query.endpointId).executeTakeFirst();
  if (bounds === undefined) return [];
  const limit = Math.min(query.limit, await maxMatches(db, query, bounds));
  if (limit === 0) return [];
  const below = Math.min(query.before ?? bounds.next_index, bounds.next_index);
  let page = db
    .selectFrom('captured_requests')
    .where(keyRange('key', query.endpointId, bounds.first_index, below))
    .orderBy('key', 'desc')
    .limit(limit);
  if (query.which !== 'any') page = page.where('saved_id', query.which === 'saved' ? 'is not' : 'is', null);
  if (query.method !== undefined) page = page.where('method', '=', query.method);
  return readRequests(db, query.endpointId, page, query.bodyBytes);
}

/** Requests of an endpoint below this index are cleared. */
export const firstIndexOf = (endpointId: number) =>
  sql<number>`(select first_index from endpoints where id = ${endpointId})`;

/** A stored request of an endpoint, not a cleared one. An index finds it saved or unsaved. See `findRequest`. */
export async function findByRef(
  db: Database,
  endpointId: number,
  ref: RequestRef,
  bodyBytes?: number,
): Promise<RequestRecord | undefined> {
  const stored = selectRequest(db.selectFrom('captured_requests'), bodyBytes);
  // The key of a larger index than a key can have is that of another endpoint.
  const found =
    'index' in ref
      ? stored.where('key', '=', requestKey(endpointId, ref.index)).where(indexOfKey, '=', ref.index)
      : stored.where('saved_id', '=', ref.savedId).where(keyRange('key', endpointId, 0));
  const row = await found.where(indexOfKey, '>=', firstIndexOf(endpointId)).executeTakeFirst();
  return row && toRequestRecord(endpointId, row);
}

/** `index` finds unsaved requests only, `savedId` saved ones. Without `bodyBytes` the whole body is returned. */
export async function findRequest(db: Database, endpointId: number, ref: RequestRef, bodyBytes?: number) {
  const record = await findByRef(db, endpointId, ref, bodyBytes);
  return 'index' in ref && record?.savedId !== null ? undefined : record;
}

/** Stored requests with these indexes, saved or unsaved, with the beginning of their bodies. */
function findSome(
  db: EngineDatabase,
  endpointId: number,
  indexes: readonly number[],
  bodyBytes: number,
): Promise<RequestRecord[]> {
  return inChunks(indexes, (chunk) => {
    const keys = chunk.map((index) => requestKey(endpointId, index));
    const page = db
      .selectFrom('captured_requests')
      .where('key', 'in', keys)
      .where(indexOfKey, '>=', firstIndexOf(endpointId));
    return readRequests(db, endpointId, page, bodyBytes);
  });
}

/** A request with its whole body, saved or unsaved. Its index stays when it is saved. */
export async function findWhole(db: EngineDatabase, endpointId: number, index: number) {
  const beginning = await findByRef(db, endpointId, { index }, db.engine.pieceBytes);
  const [whole] = beginning === undefined ? [] : await withWholeBodies(db, [beginning]);
  return whole;
}

/** Reads the rest of bodies that begin with `pieceBytes`. Omits requests that were deleted meanwhile. */
export async function withWholeBodies(db: EngineDatabase, records: readonly RequestRecord[]): Promise<RequestRecord[]> {
  const { pieceBytes } = db.engine;
  if (pieceBytes === undefined) return [...records];
  const whole: RequestRecord[] = [];
  for (const record of records) {
    const body = await wholeBody(db, record, pieceBytes);
    if (body !== undefined) whole.push({ ...record, body });
  }
  return whole;
}

/** `undefined` if the request was deleted meanwhile. */
async function wholeBody(
  db: Database,
  record: RequestRecord,
  pieceBytes: number,
): Promise<Uint8Array | null | undefined> {
  const { body: beginning, size } = record;
  if (beginning === null || beginning.length === size) return beginning;
  const body = Buffer.allocUnsafeSlow(size);
  body.set(beginning);
  for (let at = beginning.length; at < size; at += pieceBytes) {
    const piece = await bodyPart(db, record, at, pieceBytes);
    if (piece === undefined || piece === null) return undefined;
    body.set(piece, at);
  }
  return body;
}

/** Adds to the counters of stored requests. */
export async function changeMethodCounts(
  transaction: DatabaseTransaction,
  endpointId: number,
  changes: readonly MethodCount[],
): Promise<void> {
  for (const { method, stored, bytes } of changes)
    await transaction
      .insertInto('endpoint_method_counts')
      .values({ endpoint_id: endpointId, method, stored, bytes })
      .onConflict((conflict) =>
        conflict.columns(['endpoint_id', 'method']).doUpdateSet({
          stored: sql`endpoint_method_counts.stored + ${stored}`,
          bytes: sql`endpoint_method_counts.bytes + ${bytes}`,
        }),
      )
      .execute();
}

/** The time of the newest request below `next_index`. Null when there is none. */
export async function newestTime(
  transaction: DatabaseTransaction,
  endpointId: number,
  { first_index, next_index }: Pick<Bounds, 'first_index' | 'next_index'>,
): Promise<number | null> {
  const row = await transaction
    .selectFrom('captured_requests')
    .select('received_at')
    .where(keyRange('key', endpointId, first_index, next_index))
    .orderBy('key', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.received_at ?? null;
}

/** Indexes of the stored requests from `from` up to `below`. */
export async function storedIndexes(transaction: DatabaseTransaction, endpointId: number, from: number, below: number) {
  const rows = await transaction
    .selectFrom('captured_requests')
    .select(indexOfKey.as('index'))
    .where(keyRange('key', endpointId, from, below))
    .execute();
  return rows.map(({ index }) => index);
}

/** Lets `purgeSome` remove the rows of all requests. The caller hides them. */
export async function purgeLater(
  transaction: DatabaseTransaction,
  endpointId: number,
  { first_index, next_index }: Pick<Bounds, 'first_index' | 'next_index'>,
): Promise<void> {
  await transaction.deleteFrom('endpoint_method_counts').where('endpoint_id', '=', endpointId).execute();
  await transaction
    .insertInto('purges')
    .values({ endpoint_id: endpointId, from_index: first_index, below_index: next_index })
    .execute();
}

/** Bytes of all stored bodies of these endpoints. */
async function storedBodyBytes(db: Database, endpointIds: readonly number[]): Promise<number> {
  if (endpointIds.length === 0) return 0;
  const rows = await db
    .selectFrom('endpoint_method_counts')
    .select('bytes')
    .where('endpoint_id', 'in', endpointIds)
    .execute();
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

export const requestQueries = {
  storedBodyBytes: read(storedBodyBytes),
  listRequests: read(listRequests),
  findRequest: read(findRequest),
  findSome: read(findSome),
  findWhole: read(findWhole),
};
