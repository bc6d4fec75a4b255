import type { LastDelivery } from '@creel/contract';
import { sql } from 'kysely';
import { requestKey } from '../../database/stored-request.ts';
import { removeSpared } from './spared-queries.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { inTransaction, unsynced } from '../../database/remote.ts';
import type { EngineTransaction } from '../../database/remote.ts';
import { lockEndpoint, selectBounds, storedIndexes } from '../requests/queries.ts';
import { CLOCK_ERROR_MS, TOO_MANY_PENDING, areBehind } from './delivery-rules.ts';
import type { Backlog, Planned } from './delivery-rules.ts';
import { updateDueAt } from './destination-queries.ts';
import type { MatchedCaptures } from './match-queries.ts';
import { lastDeliveryOf, saveLatest } from './outcome-queries.ts';

/** SQL that plans deliveries. Times are milliseconds since 1970 and always passed in. */

/** The result of planning the matched captures. */
export interface PlanResult {
  /** Destinations with new deliveries. */
  readonly destinationIds: readonly number[];
  /** No destination could send more now, so the next captures can be planned later. */
  readonly isBehind: boolean;
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
 * Writes the deliveries of matched captures and moves the endpoint's cursor after them. Captures beyond `maxPending`
 * pending deliveries are not forwarded. `matchCaptures` has counted those, because counting 10,000 rows in this
 * transaction would delay captures. `undefined` when another process has planned these captures.
 */
async function planCaptures(
  transaction: EngineTransaction,
  endpointId: number,
  matched: MatchedCaptures,
  at: { readonly now: number; readonly maxPending: number },
): Promise<PlanResult | undefined> {
  // Shared, so that captures go on meanwhile. They spare captures that are not planned.
  const endpoint = await lockEndpoint(transaction, endpointId, 'share');
  if (endpoint === undefined) return undefined;
  const enabled = await lockEnabled(transaction, endpointId);
  const bounds = await selectBounds(transaction, endpointId).executeTakeFirst();
  if (bounds?.planned_to !== matched.from) return undefined;
  const isBehind = areBehind(matched.pending, [...enabled.values()], at.now);
  // The others were deleted or cleared meanwhile.
  const from = Math.max(matched.from, endpoint.first_index);
  const present = new Set(await storedIndexes(transaction, endpointId, from, matched.to));
  const { planned, refused } = decide(matched, enabled, present, at);
  await addDeliveries(transaction, endpointId, planned);
  const destinationIds = [...new Set(planned.map(({ destinationId }) => destinationId))].toSorted((a, b) => a - b);
  if (planned.some(({ receivedAt }) => receivedAt > at.now + CLOCK_ERROR_MS))
    await makeFirstAttemptsDue(transaction, destinationIds, at.now);
  const firstAt = Math.min(planned[0]?.receivedAt ?? at.now, at.now);
  const due = destinationIds.filter((id) => isDueFrom(firstAt, enabled.get(id)));
  await updateDueAt(transaction, due);
  // Last, because captures wait from here on. If no destination was locked, another process may have planned these.
  const after = await transaction
    .updateTable('endpoints')
    .set({ planned_to: matched.to })
    .where('id', '=', endpointId)
    .where('planned_to', '=', matched.from)
    .returning('trimmed_to')
    .executeTakeFirst();
  if (after === undefined) return undefined;
  await saveLatest(
    transaction,
    refused.map(({ index, latest }) => ({ endpointId, index, latest })),
  );
  const waiting = new Set(planned.map(({ index }) => index));
  const unneeded = [...present].filter((index) => !waiting.has(index));
  if (matched.from < after.trimmed_to) await removeSpared(transaction, endpointId, unneeded);
  return { destinationIds, isBehind, planned: [...waiting], refused };
}

/** Which deliveries are added, and which captures are not forwarded. */
function decide(
  matched: MatchedCaptures,
  enabled: ReadonlyMap<number, Backlog>,
  present: ReadonlySet<number>,
  { now, maxPending }: { readonly now: number; readonly maxPending: number },
) {
  let { pending } = matched;
  const planned: NewDelivery[] = [];
  const refused: RefusedCapture[] = [];
  for (const { index, receivedAt, deliveries, refusal } of matched.captures) {
    const wanted = deliveries.filter(({ destinationId }) => enabled.has(destinationId));
    if (wanted.length === 0 || !present.has(index)) continue;
    const error = refusal ?? (pending + wanted.length > maxPending ? TOO_MANY_PENDING : null);
    if (error === null) {
      pending += wanted.length;
      planned.push(...wanted.map((delivery) => ({ ...delivery, index, receivedAt })));
    } else refused.push({ index, latest: lastDeliveryOf({ kind: 'forward', status: null, error, at: now }) });
  }
  return { planned, refused };
}

/** The destinations that are on, by id. Locks them, so that one process at a time plans for them. */
async function lockEnabled(transaction: EngineTransaction, endpointId: number): Promise<ReadonlyMap<number, Backlog>> {
  const rows = await transaction
    .selectFrom('destinations')
    .select(['id', 'paused_at as pausedAt', 'due_at as dueAt'])
    .where('endpoint_id', '=', endpointId)
    .where('enabled', '=', 1)
    .orderBy('id')
    .modifyEnd(transaction.engine.locks.alone)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Whether a delivery makes a destination due earlier. It does not if an earlier one waits, or while it is paused. */
function isDueFrom(time: number, destination: Backlog | undefined): boolean {
  return destination?.pausedAt === null && (destination.dueAt ?? Infinity) > time;
}

type NewDelivery = Planned & { readonly id: string };

/** One parameter for all rows, because building a statement with 100 rows takes longer than inserting them. */
async function addDeliveries(transaction: DatabaseTransaction, endpointId: number, planned: readonly NewDelivery[]) {
  if (planned.length === 0) return;
  const rows = planned.map(
    ({ id, index, destinationId, receivedAt }) => `${JSON.stringify(id)}:[${index},${destinationId},${receivedAt}]`,
  );
  await sql`insert into deliveries (id, request_key, destination_id, attempts, next_attempt_at)
    select key, ${requestKey(endpointId, 0)} + cast(value ->> 0 as bigint), cast(value ->> 1 as bigint), 0,
      cast(value ->> 2 as bigint)
    from json_each(${`{${rows.join(',')}}`})`.execute(transaction);
}

/**
 * Makes first attempts due now. After the machine's clock was set back, captures have later times, because those of an
 * endpoint never decrease. Earlier captures are included to keep the order.
 */
async function makeFirstAttemptsDue(transaction: DatabaseTransaction, destinationIds: readonly number[], now: number) {
  await transaction
    .updateTable('deliveries')
    .set({ next_attempt_at: now })
    .where('destination_id', 'in', destinationIds)
    .where('attempts', '=', 0)
    .where('next_attempt_at', '>', now)
    .execute();
}

export const planQueries = { planCaptures: unsynced(inTransaction(planCaptures)) };
