import { LABEL_BODY_BYTES, RequestView, needsBody, parseQuery, steppedMatcherOf } from '@creel/contract';
import type { WorkSteps } from '@creel/contract';
import { countRows } from '../../database/engine.ts';
import { read, scan } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import { decodeHead, keyRange, searchableRecord } from '../../database/stored-request.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import { LARGE_BODY_BYTES, SlicedWork, largeBodyQueue } from '../../workers/sliced-work.ts';
import { findWhole, readRequests, selectBounds } from '../requests/queries.ts';
import { TOO_SLOW, deliveryIdOf, forwardRefusal } from './delivery-rules.ts';

/** SQL that finds the captures that are not planned yet, and the destinations whose conditions they match. */

type MatchedCapture = Awaited<ReturnType<typeof matchOne>>;

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

/** The identity of this installation: the mark in its requests, and the secret of its delivery ids. */
export interface Installation {
  readonly mark: string;
  readonly secret: string;
}

/** Endpoints with captures whose deliveries are not planned yet. */
async function unplannedEndpoints(db: EngineDatabase, limit: number) {
  return db
    .selectFrom('endpoints')
    .select(['id', 'user_id as userId'])
    .where('planned_to', 'is not', null)
    .whereRef('planned_to', '<', 'next_index')
    .limit(limit)
    .execute();
}

type Condition = Awaited<ReturnType<typeof conditionsOf>>[number];

async function conditionsOf(db: EngineDatabase, endpointId: number) {
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

/** The limits of one step of the planner. */
export interface MatchLimits {
  readonly maxRows: number;
  /** Milliseconds of work for one capture; by default those of `SlicedWork`. */
  readonly maxMatchMs?: number | undefined;
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
  limits: MatchLimits,
): Promise<MatchedCaptures | undefined> {
  const began = performance.now();
  const endpoint = await selectBounds(db, endpointId).executeTakeFirst();
  if (endpoint === undefined || endpoint.planned_to === null || endpoint.planned_to >= endpoint.next_index)
    return undefined;
  const conditions = await conditionsOf(db, endpointId);
  const from = Math.max(endpoint.planned_to, endpoint.first_index);
  let to = Math.min(endpoint.next_index, from + limits.maxRows);
  const captures: MatchedCapture[] = [];
  if (conditions.length > 0) {
    // Most destinations have no condition, and then the beginnings of bodies are not read.
    const bodyBytes = conditions.every(isEmpty) ? 0 : LABEL_BODY_BYTES;
    const page = db
      .selectFrom('captured_requests')
      .where(keyRange('key', endpointId, from, to))
      .orderBy('key');
    for (const record of await readRequests(db, endpointId, page, bodyBytes)) {
      const matched = await matchOne(db, record, conditions, { ...installation, ...limits });
      if (matched.deliveries.length > 0) captures.push(matched);
      if (performance.now() - began <= STEP_MS) continue;
      to = matched.index + 1;
      break;
    }
  }
  const ofEndpoint = db.selectFrom('deliveries').where(keyRange('request_key', endpointId, 0));
  const pending = conditions.length === 0 ? 0 : await countRows(ofEndpoint);
  return { from: endpoint.planned_to, to, hasMore: to < endpoint.next_index, captures, pending };
}

function isEmpty({ query }: Condition): boolean {
  return query.kind === 'and' && query.parts.length === 0;
}

/** A capture with a delivery for each destination whose condition it matches. `refusal`: why it is not forwarded. */
async function matchOne(
  db: EngineDatabase,
  beginning: RequestRecord,
  conditions: readonly Condition[],
  { mark, secret, maxMatchMs }: Installation & Pick<MatchLimits, 'maxMatchMs'>,
) {
  const { index, receivedAt, endpointId, method, size } = beginning;
  const own = conditions.filter(({ fromIndex }) => fromIndex <= index);
  const readsBody = size > LABEL_BODY_BYTES && own.some(({ query }) => needsBody(query));
  const match = async () => {
    const whole = readsBody ? await findWhole(db, endpointId, index) : undefined;
    return matchingConditions(whole ?? beginning, own, maxMatchMs);
  };
  const matching = await (readsBody && size > LARGE_BODY_BYTES ? largeBodyQueue.run(endpointId, match) : match());
  const deliveries = (matching ?? own).map(({ id: destinationId }) => ({
    id: deliveryIdOf(secret, { destinationId, index, receivedAt }),
    destinationId,
  }));
  const refusal = forwardRefusal(method, decodeHead(beginning.head).rawHeaders, mark);
  return { index, receivedAt, deliveries, refusal: refusal ?? (matching === undefined ? TOO_SLOW : null) };
}

/** The conditions that a request matches; `undefined` if they take too long. */
async function matchingConditions(
  record: RequestRecord,
  conditions: readonly Condition[],
  maxMatchMs: number | undefined,
): Promise<readonly Condition[] | undefined> {
  // The view of a request costs more than all else here.
  if (conditions.every(isEmpty)) return conditions;
  const readsBody = conditions.some(({ query }) => needsBody(query));
  const view = new RequestView(await searchableRecord(record, readsBody));
  const matching: Condition[] = [];
  function* matchAll(): WorkSteps {
    for (const condition of conditions)
      if (yield* steppedMatcherOf(condition.query, record.receivedAt)(view)) matching.push(condition);
    return true;
  }
  return (await new SlicedWork().run(matchAll(), maxMatchMs)) === undefined ? undefined : matching;
}

export const matchQueries = {
  unplannedEndpoints: read(unplannedEndpoints),
  // Matching a large body takes long.
  matchCaptures: scan(matchCaptures),
};
