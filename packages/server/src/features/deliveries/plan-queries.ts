import { LABEL_BODY_BYTES, RequestView, needsBody, parseQuery, steppedMatcherOf } from '@creel/contract';
import type { LastDelivery, Query, WorkSteps } from '@creel/contract';
import { sql } from 'kysely';
import { decodeHead } from '../../database/request-head.ts';
import { LARGE_BODY_BYTES, SlicedWork, runLarge } from '../../workers/sliced-work.ts';
import { indexOfKey, indexOfRequestKey, requestKey } from '../../database/request-key.ts';
import { rowChunks, removeSpared } from './spared-queries.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import type { RequestRecord } from '../../database/store.ts';
import { read, scan, unsynced } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import { lockEndpoint, readRequests, selectRequest, storedLatest, toRequestRecord } from '../requests/queries.ts';
import { searchableRecord } from '../search/queries.ts';
import { TOO_MANY_PENDING, TOO_SLOW, deliveryIdOf, refusalOf } from './delivery-plan.ts';
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

/** A step ends after the capture that takes it beyond this many milliseconds, so that others' captures are planned. */
const STEP_MS = 100;

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
  const began = performance.now();
  const endpoint = await db
    .selectFrom('endpoints')
    .select(['planned_to', 'next_index', 'first_index'])
    .where('id', '=', endpointId)
    .executeTakeFirst();
  if (endpoint === undefined || endpoint.planned_to === null || endpoint.planned_to >= endpoint.next_index)
    return undefined;
  const conditions = await conditionsOf(db, endpointId);
  const from = Math.max(endpoint.planned_to, endpoint.first_index);
  let to = Math.min(endpoint.next_index, from + maxRows);
  const captures: MatchedCapture[] = [];
  if (conditions.length > 0) {
    for (const record of await unplanned(db, endpointId, from, to)) {
      const matched = await matchOne(db, record, conditions, installation);
      if (matched.deliveries.length > 0) captures.push(matched);
      if (performance.now() - began <= STEP_MS) continue;
      to = matched.index + 1;
      break;
    }
  }
  const pending = conditions.length === 0 ? 0 : await pendingOf(db, endpointId);
  return { from: endpoint.planned_to, to, hasMore: to < endpoint.next_index, captures, pending };
}

/** The captures of a step, with the beginning of their bodies. */
function unplanned(db: EngineDatabase, endpointId: number, from: number, to: number): Promise<RequestRecord[]> {
  const page = db
    .selectFrom('captured_requests')
    .where('key', '>=', requestKey(endpointId, from))
    .where('key', '<', requestKey(endpointId, to))
    .orderBy('key');
  return readRequests(db, endpointId, page, LABEL_BODY_BYTES);
}

async function matchOne(
  db: EngineDatabase,
  beginning: RequestRecord,
  conditions: readonly Condition[],
  { mark, secret }: Installation,
): Promise<MatchedCapture> {
  const { index, receivedAt, endpointId, method, size } = beginning;
  const own = conditions.filter(({ fromIndex }) => fromIndex <= index);
  const readsBody = size > LABEL_BODY_BYTES && own.some(({ query }) => needsBody(query));
  const match = async (): Promise<readonly Condition[] | undefined> =>
    matchingConditions(readsBody ? await wholeRequest(db, beginning) : beginning, own);
  const matching = await (readsBody && size > LARGE_BODY_BYTES ? runLarge(endpointId, match) : match());
  const deliveries = (matching ?? own).map(({ id: destinationId }) => ({
    id: deliveryIdOf(secret, { destinationId, index, receivedAt }),
    destinationId,
  }));
  const refusal = refusalOf(method, decodeHead(beginning.head).rawHeaders, mark);
  return { index, receivedAt, deliveries, refusal: refusal ?? (matching === undefined ? TOO_SLOW : null) };
}

/** The conditions that a request matches; `undefined` if they take too long. */
async function matchingConditions(
  record: RequestRecord,
  conditions: readonly Condition[],
): Promise<readonly Condition[] | undefined> {
  const readsBody = conditions.some(({ query }) => needsBody(query));
  const view = new RequestView(await searchableRecord(record, readsBody));
  const matching: Condition[] = [];
  function* matchAll(): WorkSteps {
    for (const condition of conditions)
      if (yield* steppedMatcherOf(condition.query, record.receivedAt)(view)) matching.push(condition);
    return true;
  }
  return (await new SlicedWork().run(matchAll())) === undefined ? undefined : matching;
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
    const endpoint = await lockEndpoint(transaction, endpointId);
    if (endpoint?.planned_to !== matched.from) return undefined;
    const present = await stillStored(transaction, endpointId, matched, endpoint.first_index);
    const enabled = await enabledDestinations(transaction, endpointId);
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
    await transaction.updateTable('endpoints').set({ planned_to: matched.to }).where('id', '=', endpointId).execute();
    if (matched.from < endpoint.trimmed_to) await removeSpared(transaction, endpointId, [...present]);
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

async function enabledDestinations(transaction: DatabaseTransaction, endpointId: number): Promise<ReadonlySet<number>> {
  const rows = await transaction
    .selectFrom('destinations')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where('enabled', '=', 1)
    .execute();
  return new Set(rows.map((row) => row.id));
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

/** A capture that waits for its first attempt at a destination. */
export interface WaitingCapture {
  readonly index: number;
  /** When the attempt is due, in milliseconds since 1970. */
  readonly plannedAt: number;
  /** The latest attempt at another destination. */
  readonly last: LastDelivery | null;
}

/** Those of the captures that wait for their first attempt at a destination. */
async function listWaiting(
  db: EngineDatabase,
  endpointId: number,
  indexes: readonly number[],
): Promise<WaitingCapture[]> {
  if (indexes.length === 0) return [];
  const rows = await db
    .selectFrom('deliveries')
    .select((select) => [
      indexOfRequestKey.as('index'),
      select.fn.min<number>('next_attempt_at').as('plannedAt'),
      sql<string | null>`(select latest from latest_deliveries l where l.request_key = deliveries.request_key)`.as(
        'latest',
      ),
    ])
    .where(
      'request_key',
      'in',
      indexes.map((index) => requestKey(endpointId, index)),
    )
    .where('attempts', '=', 0)
    .groupBy('request_key')
    .execute();
  return rows.map(({ latest, ...waiting }) => ({ ...waiting, last: storedLatest(latest) }));
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
  listWaiting: read(listWaiting),
  listPlanned: read(listPlanned),
  findForwardingEndpoint: read(findForwardingEndpoint),
  unplannedEndpoints: read(unplannedEndpoints),
  findCapture: read(findCapture),
  // Matching a large body takes long.
  matchCaptures: scan(matchCaptures),
  planCaptures: unsynced(planCaptures),
};
