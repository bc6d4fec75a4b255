import { RequestView, needsBody, steppedMatcherOf } from '@creel/contract';
import type { Query, SearchPosition } from '@creel/contract';
import { sql } from 'kysely';
import type { Expression, RawBuilder, SqlBool } from 'kysely';
import { indexOfKey, keyRange, requestKey, searchableRecord, withShortBody } from '../../database/stored-request.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import { SIZE, firstIndexOf, selectRequest, toRequestRecord, withWholeBodies } from '../requests/queries.ts';
import { prefilterOf } from './prefilter-queries.ts';
import { scan } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import { freeBytes } from '../../http/body-buffer.ts';
import { LARGE_BODY_BYTES, SlicedWork, largeBodyQueue } from '../../workers/sliced-work.ts';

/** An endpoint that is searched, and its newest request that was not searched yet. */
export interface SearchedEndpoint extends SearchPosition {
  readonly uid: string;
}

/** One step of a search in one endpoint, from an index downward. */
export interface Scan {
  readonly endpointId: number;
  readonly from: number;
  readonly query: Query;
  /** Relative times of the query count from here. */
  readonly now: number;
  /** The step ends after this many matches. */
  readonly limit: number;
  readonly maxRows: number;
  /** Maximum bytes of heads and bodies per step; a single request may exceed it. */
  readonly maxBytes: number;
  /** Maximum bytes of the body of each match. */
  readonly bodyBytes: number;
}

/** What a step has found, and where the next one starts. */
export interface ScanResult {
  /** Newest first. */
  readonly found: readonly RequestRecord[];
  /** Number of searched requests, and their bytes. */
  readonly searched: number;
  readonly bytes: number;
  /** Start of the next step; `undefined` at the end. */
  readonly next: Pick<SearchPosition, 'receivedAt' | 'index'> | undefined;
  /** Bytes of a body that takes too long to match. The step has no other result. */
  readonly tooSlowFor?: number;
}

/** The user's endpoints, or one of them, with requests older than `before`, in any order. */
async function searchedEndpoints(
  db: EngineDatabase,
  userId: number,
  onlyId: number | undefined,
  before: SearchPosition | undefined,
): Promise<SearchedEndpoint[]> {
  let endpoints = db
    .selectFrom('endpoints')
    .select(['id', 'uid', 'first_index', 'next_index'])
    .where('user_id', '=', userId)
    .where('latest_at', 'is not', null);
  if (onlyId !== undefined) endpoints = endpoints.where('id', '=', onlyId);
  const searched: SearchedEndpoint[] = [];
  for (const { id: endpointId, uid, first_index, next_index } of await endpoints.execute()) {
    let rows = db
      .selectFrom('captured_requests')
      .select([indexOfKey.as('index'), 'received_at'])
      .where(keyRange('key', endpointId, first_index, next_index));
    if (before !== undefined) rows = rows.where(olderThan(endpointId, before));
    const newest = await rows.orderBy('key', 'desc').limit(1).executeTakeFirst();
    if (newest !== undefined) searched.push({ endpointId, uid, index: newest.index, receivedAt: newest.received_at });
  }
  return searched;
}

/** Results are ordered by time, endpoint and index, descending. */
function olderThan(endpointId: number, before: SearchPosition): Expression<SqlBool> {
  if (endpointId < before.endpointId) return sql<SqlBool>`received_at <= ${before.receivedAt}`;
  if (endpointId > before.endpointId) return sql<SqlBool>`received_at < ${before.receivedAt}`;
  return sql<SqlBool>`received_at <= ${before.receivedAt} and key < ${requestKey(endpointId, before.index)}`;
}

/**
 * Scans the table, because an index of every captured byte would make each capture slower. Runs off the writer's
 * thread. At most `maxBytes`, or one request, are in memory at a time.
 */
async function scanRequests(db: EngineDatabase, step: Scan): Promise<ScanResult> {
  const rows = await rowsToScan(db, step);
  const last = rows.searched.at(-1);
  if (last === undefined) return { found: [], searched: 0, bytes: 0, next: undefined };
  const isLarge = rows.searched.some((row) => row.bytes > LARGE_BODY_BYTES);
  const search = (): Promise<ScanResult> => scanRows(db, step, rows, last.index);
  return isLarge ? largeBodyQueue.run(step.endpointId, search) : search();
}

async function scanRows(db: EngineDatabase, step: Scan, rows: ScannedRows, downTo: number): Promise<ScanResult> {
  const readsBody = needsBody(step.query);
  const matcher = steppedMatcherOf(step.query, step.now);
  const work = new SlicedWork();
  const found: RequestRecord[] = [];
  const records = await candidates(db, step, downTo, readsBody);
  try {
    for (const record of records) {
      const isMatch = await work.run(matcher(new RequestView(await searchableRecord(record, readsBody))));
      if (isMatch === undefined) return { found: [], searched: 0, bytes: 0, next: undefined, tooSlowFor: record.size };
      if (isMatch) found.push(withShortBody(record, step.bodyBytes));
      if (found.length === step.limit) return { found, ...resultUpTo(rows, record.index) };
    }
    return { found, ...resultUpTo(rows, downTo) };
  } finally {
    // Without this, V8 frees them late, because large bodies are few objects.
    for (const { body } of records)
      if (body !== null && body.length > Math.max(step.bodyBytes, LARGE_BODY_BYTES)) freeBytes(body);
  }
}

type ScannedRows = Awaited<ReturnType<typeof rowsToScan>>;

/** The rows of one step, newest first: up to `maxRows` and `maxBytes`, but at least one. `next`: the row after them. */
async function rowsToScan(db: EngineDatabase, { endpointId, from, maxRows, maxBytes }: Scan) {
  const rows = await db
    .selectFrom('captured_requests')
    .select([indexOfKey.as('index'), 'received_at as receivedAt', sql<number>`length(head) + ${SIZE}`.as('bytes')])
    // Read with the rows, because the endpoint may be cleared or deleted during a search.
    .where('key', '>=', firstKey(endpointId))
    .where('key', '<=', requestKey(endpointId, from))
    .orderBy('key', 'desc')
    .limit(maxRows + 1)
    .execute();
  let bytes = 0;
  const end = rows.findIndex((row, nth) => (bytes += row.bytes) > maxBytes && nth > 0);
  const count = Math.min(end < 0 ? rows.length : end, maxRows);
  return { searched: rows.slice(0, count), next: rows[count] };
}

function firstKey(endpointId: number): RawBuilder<number> {
  return sql<number>`(${requestKey(endpointId, 0)} + ${firstIndexOf(endpointId)})`;
}

function resultUpTo({ searched, next }: ScannedRows, index: number): Omit<ScanResult, 'found'> {
  const count = searched.findIndex((row) => row.index === index) + 1;
  return {
    searched: count,
    bytes: searched.slice(0, count).reduce((sum, row) => sum + row.bytes, 0),
    next: searched[count] ?? next,
  };
}

async function candidates(
  db: EngineDatabase,
  { endpointId, from, query, now, bodyBytes }: Scan,
  downTo: number,
  readsBody: boolean,
): Promise<RequestRecord[]> {
  const prefilter = prefilterOf(query, { engine: db.engine, now });
  let rows = selectRequest(db.selectFrom('captured_requests'), readsBody ? db.engine.pieceBytes : bodyBytes)
    .where(keyRange('key', endpointId, downTo, from + 1))
    .orderBy('key', 'desc');
  if (prefilter !== undefined) rows = rows.where(prefilter);
  const records = (await rows.execute()).map((row) => toRequestRecord(endpointId, row));
  return readsBody ? withWholeBodies(db, records) : records;
}

export const searchQueries = {
  searchedEndpoints: scan(searchedEndpoints),
  scanRequests: scan(scanRequests),
};
