import { LABEL_BODY_BYTES, matcherOf, needsBody, parseQuery } from '@creel/contract';
import type { LastDelivery, Query } from '@creel/contract';
import { sql } from 'kysely';
import { decodeHead } from '../../database/request-head.ts';
import { indexOfKey, requestKey } from '../../database/request-key.ts';
import { rowChunks } from '../../database/engine.ts';
import { removeSpared } from './spared-queries.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import type { RequestRecord } from '../../database/store.ts';
import { read, scan, unsynced } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import { lockEndpoint, selectRequest, storedLatest, toRequestRecord } from '../requests/queries.ts';
import { searchableRecord } from '../search/queries.ts';
import { TOO_MANY_PENDING, deliveryIdOf, refusalOf } from './delivery-plan.ts';
import type { Planned } from './delivery-plan.ts';
import { updateDueAt } from './destination-queries.ts';
import { saveLatest } from './record-queries.ts';

/** SQL that finds what is to be forwarded. Times are milliseconds since 1970 and always passed in. */

/** A capture with a delivery for each destination whose condition it matches. */
export interface MatchedCapture {
  readonly index: number;
  readonly receivedAt: number;
  readonly deliveries: readonly { readonly id: string; readonly destinationId: number }[];
  /** Why it is not forwarded, or null. */
  readonly refusal: string | null;
}

/** Captures with indexes from `from` up to `to`. Those that nothing is planned for are omitted. */
export interface MatchedCaptures {
  readonly from: number;
  readonly to: number;
  readonly captures: readonly MatchedCapture[];
  /** Pending deliveries of the endpoint. */
  readonly pending: number;
  /** Captures from `to` on are not planned either. */
  readonly hasMore: boolean;
}

/** What identifies this installation: the mark in its requests, and the secret of its delivery ids. */
export interface Installation {
  readonly mark: string;
  readonly secret: string;
}

/** Endpoints with captures whose deliveries are not planned yet. */
async function unplannedEndpoints(
  db: EngineDatabase,
  limit: number,
): Promise<{ readonly id: number; readonly userId: number }[]> {
  return db
    .selectFrom('endpoints')
    .select(['id', 'user_id as userId'])
    .where('planned_to', 'is not', null)
    .whereRef('planned_to', '<', 'next_index')
    .limit(limit)
    .execute();
}

interface Condition {
  readonly id: number;
  readonly fromIndex: number;
  readonly query: Query;
}

async function conditionsOf(db: EngineDatabase, endpointId: number): Promise<Condition[]> {
  const rows = await db
    .selectFrom('destinations')
    .select(['id', 'from_index', 'query'])
    .where('endpoint_id', '=', endpointId)
    .where('enabled', '=', 1)
    .orderBy('id')
    .execute();
  return rows.flatMap((row) => {
    const parsed = parseQuery(row.query);
    return parsed.ok ? [{ id: row.id, fromIndex: row.from_index, query: parsed.query }] : [];
  });
}

/**
 * Evaluates the conditions of the destinations for up to `maxRows` captures that are not planned yet. Reads a whole
 * body only if a condition needs it, one at a time. `undefined` when all are planned.
 */
async function matchCaptures(
  db: EngineDatabase,
  endpointId: number,
  installation: Installation,
  maxRows: number,
): Promise<MatchedCaptures | undefined> {
  const endpoint = await db
    .selectFrom('endpoints')
    .select(['planned_to', 'next_index', 'first_index'])
    .where('id', '=', endpointId)
    .executeTakeFirst();
  if (endpoint === undefined || endpoint.planned_to === null || endpoint.planned_to >= endpoint.next_index)
    return undefined;
  const conditions = await conditionsOf(db, endpointId);
  const from = Math.max(endpoint.planned_to, endpoint.first_index);
  const to = Math.min(endpoint.next_index, from + maxRows);
  const bounds = { from: endpoint.planned_to, to, hasMore: to < endpoint.next_index };
  if (conditions.length === 0) return { ...bounds, captures: [], pending: 0 };
  const rows = await selectRequest(db.selectFrom('captured_requests'), LABEL_BODY_BYTES)
    .where('key', '>=', requestKey(endpointId, from))
    .where('key', '<', requestKey(endpointId, to))
    .orderBy('key')
    .execute();
  const captures: MatchedCapture[] = [];
  for (const row of rows) {
    const matched = await matchOne(db, toRequestRecord(endpointId, row), conditions, installation);
    if (matched.deliveries.length > 0) captures.push(matched);
  }
  return { ...bounds, captures, pending: await pendingOf(db, endpointId) };
}

async function matchOne(
  db: EngineDatabase,
  beginning: RequestRecord,
  conditions: readonly Condition[],
  { mark, secret }: Installation,
): Promise<MatchedCapture> {
  const { index, receivedAt } = beginning;
  const own = conditions.filter(({ fromIndex }) => fromIndex <= index);
  const readsBody = own.some(({ query }) => needsBody(query));
  const record = readsBody && beginning.size > LABEL_BODY_BYTES ? await wholeRequest(db, beginning) : beginning;
  const request = await searchableRecord(record, readsBody);
  const deliveries = own
    .filter(({ query }) => matcherOf(query, receivedAt)(request))
    .map(({ id: destinationId }) => ({
      id: deliveryIdOf(secret, { destinationId, index, receivedAt }),
      destinationId,
    }));
  const refusal = refusalOf(record.method, decodeHead(record.head).rawHeaders, mark);
  return { index, receivedAt, deliveries, refusal };
}

async function wholeRequest(db: EngineDatabase, record: RequestRecord): Promise<RequestRecord> {
  return (await findCapture(db, record.endpointId, record.index)) ?? record;
}

/** A request with its whole body, saved or unsaved. `undefined` when it does not exist. */
async function findCapture(db: EngineDatabase, endpointId: number, index: number): Promise<RequestRecord | undefined> {
  const row = await selectRequest(db.selectFrom('captured_requests'), undefined)
    .where('key', '=', requestKey(endpointId, index))
    .executeTakeFirst();
  return row && toRequestRecord(endpointId, row);
}

/** A delivery that was planned, or a capture that is not forwarded. */
export interface PlanResult {
  readonly destinationIds: readonly number[];
  /** Indexes of the captures that deliveries were planned for. */
  readonly planned: readonly number[];
  readonly refused: readonly RefusedCapture[];
}

/** A capture that is not forwarded. `latest` says why. */
export interface RefusedCapture {
  readonly index: number;
  readonly latest: LastDelivery;
}

/**
 * Writes the deliveries of matched captures and moves the endpoint's cursor after them, in one transaction. At most
 * `maxPending` deliveries of an endpoint are pending; captures beyond that are not forwarded. Those that have ended since
 * the match still count, because counting 10,000 rows here would delay captures. `undefined` when another process has
 * planned these captures.
 */
async function planCaptures(
  db: EngineDatabase,
  endpointId: number,
  matched: MatchedCaptures,
  at: { readonly now: number; readonly maxPending: number },
): Promise<PlanResult | undefined> {
  return db.transaction().execute(async (transaction) => {
    // Shared with captures: they spare what is not planned, and go on meanwhile.
    const endpoint = await lockEndpoint(db, transaction, endpointId, 'share');
    if (endpoint === undefined) return undefined;
    const enabled = await lockEnabled(db, transaction, endpointId);
    if ((await plannedTo(transaction, endpointId)) !== matched.from) return undefined;
    const present = await stillStored(transaction, endpointId, matched, endpoint.first_index);
    let { pending } = matched;
    const planned: NewDelivery[] = [];
    const refused: RefusedCapture[] = [];
    for (const { index, receivedAt, deliveries, refusal } of matched.captures) {
      const wanted = deliveries.filter(({ destinationId }) => enabled.has(destinationId));
      if (wanted.length === 0 || !present.has(index)) continue;
      const error = refusal ?? (pending + wanted.length > at.maxPending ? TOO_MANY_PENDING : null);
      if (error === null) {
        pending += wanted.length;
        planned.push(...wanted.map((delivery) => ({ ...delivery, index, receivedAt })));
      } else
        refused.push({ index, latest: { kind: 'forward', status: null, error, at: new Date(at.now).toISOString() } });
    }
    await addDeliveries(transaction, endpointId, planned);
    await saveLatest(
      transaction,
      refused.map(({ index, latest }) => ({ endpointId, index, latest })),
    );
    const destinationIds = [...new Set(planned.map(({ destinationId }) => destinationId))].toSorted((a, b) => a - b);
    await updateDueAt(transaction, destinationIds);
    // Last, because captures wait from here on. Without a destination another process may have planned them meanwhile.
    const after = await transaction
      .updateTable('endpoints')
      .set({ planned_to: matched.to })
      .where('id', '=', endpointId)
      .where('planned_to', '=', matched.from)
      .returning('trimmed_to')
      .executeTakeFirst();
    if (after === undefined) return undefined;
    if (matched.from < after.trimmed_to) await removeSpared(db, transaction, endpointId, [...present]);
    return { destinationIds, planned: [...new Set(planned.map(({ index }) => index))], refused };
  });
}

/** Indexes of the matched captures that were not deleted or cleared meanwhile. */
async function stillStored(
  transaction: DatabaseTransaction,
  endpointId: number,
  { from, to }: MatchedCaptures,
  firstIndex: number,
): Promise<ReadonlySet<number>> {
  const rows = await transaction
    .selectFrom('captured_requests')
    .select(indexOfKey.as('index'))
    .where('key', '>=', requestKey(endpointId, Math.max(from, firstIndex)))
    .where('key', '<', requestKey(endpointId, to))
    .execute();
  return new Set(rows.map((row) => row.index));
}

/** The destinations that are on. Locks them, so that one process at a time plans for them. */
async function lockEnabled(
  { engine }: EngineDatabase,
  transaction: DatabaseTransaction,
  endpointId: number,
): Promise<ReadonlySet<number>> {
  const rows = await transaction
    .selectFrom('destinations')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where('enabled', '=', 1)
    .orderBy('id')
    .modifyEnd(engine.locks.alone)
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** The endpoint's cursor. */
async function plannedTo(transaction: DatabaseTransaction, endpointId: number): Promise<number | null | undefined> {
  const row = await transaction
    .selectFrom('endpoints')
    .select('planned_to')
    .where('id', '=', endpointId)
    .executeTakeFirst();
  return row?.planned_to;
}

async function pendingOf(db: EngineDatabase, endpointId: number): Promise<number> {
  const { count } = await db
    .selectFrom('deliveries')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('request_key', '>=', requestKey(endpointId, 0))
    .where('request_key', '<', requestKey(endpointId + 1, 0))
    .executeTakeFirstOrThrow();
  return count;
}

type NewDelivery = Planned & { readonly id: string };

async function addDeliveries(
  transaction: DatabaseTransaction,
  endpointId: number,
  planned: readonly NewDelivery[],
): Promise<void> {
  const rows = planned.map(({ id, index, receivedAt, destinationId }) => ({
    id,
    request_key: requestKey(endpointId, index),
    destination_id: destinationId,
    attempts: 0,
    next_attempt_at: receivedAt,
  }));
  for (const chunk of rowChunks(rows)) await transaction.insertInto('deliveries').values(chunk).execute();
}

/** What a stored request shows of its deliveries. */
export interface DeliveryState {
  readonly index: number;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** When its first attempt at a destination is due, in milliseconds since 1970. Null when it waits for none. */
  readonly plannedAt: number | null;
  /** Whether it waits for any attempt. */
  readonly isPending: boolean;
  readonly last: LastDelivery | null;
}

/** The states of those of the requests that are stored. */
async function listDeliveryStates(
  db: EngineDatabase,
  endpointId: number,
  indexes: readonly number[],
): Promise<DeliveryState[]> {
  const states: DeliveryState[] = [];
  for (const chunk of rowChunks(indexes)) {
    const rows = await db
      .selectFrom('captured_requests')
      .select([
        indexOfKey.as('index'),
        'received_at as receivedAt',
        sql<number | null>`(select min(next_attempt_at) from deliveries where request_key = key and attempts = 0)`.as(
          'plannedAt',
        ),
        sql<number>`case when exists (select 1 from deliveries where request_key = key) then 1 else 0 end`.as(
          'pending',
        ),
        sql<string | null>`(select latest from latest_deliveries where request_key = key)`.as('latest'),
      ])
      .where(
        'key',
        'in',
        chunk.map((index) => requestKey(endpointId, index)),
      )
      .where(indexOfKey, '>=', (first) =>
        first.selectFrom('endpoints').select('first_index').where('id', '=', endpointId),
      )
      .execute();
    for (const { latest, pending, ...row } of rows)
      states.push({ ...row, isPending: pending === 1, last: storedLatest(latest) });
  }
  return states;
}

/** A delivery that waits for its first attempt. */
export interface PlannedDelivery {
  readonly deliveryId: string;
  readonly destinationId: number;
  readonly url: string;
  readonly appendPath: boolean;
  /** When the attempt is due, in milliseconds since 1970. */
  readonly plannedAt: number;
}

/** The deliveries of a request that wait for their first attempt, newest destination first. */
async function listPlanned(db: EngineDatabase, endpointId: number, index: number): Promise<PlannedDelivery[]> {
  const rows = await db
    .selectFrom('deliveries as p')
    .innerJoin('destinations as d', 'd.id', 'p.destination_id')
    .select(['p.id as deliveryId', 'd.id as destinationId', 'd.url', 'd.append_path', 'p.next_attempt_at as plannedAt'])
    .where('p.request_key', '=', requestKey(endpointId, index))
    .where('p.attempts', '=', 0)
    .orderBy('d.id', 'desc')
    .execute();
  return rows.map(({ append_path, ...planned }) => ({ ...planned, appendPath: append_path === 1 }));
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

export const planQueries = {
  listDeliveryStates: read(listDeliveryStates),
  listPlanned: read(listPlanned),
  findForwardingEndpoint: read(findForwardingEndpoint),
  unplannedEndpoints: read(unplannedEndpoints),
  findCapture: read(findCapture),
  // Matching a large body takes long.
  matchCaptures: scan(matchCaptures),
  planCaptures: unsynced(planCaptures),
};
