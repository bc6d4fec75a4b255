import { isDelivered } from '@creel/contract';
import type { LastDelivery } from '@creel/contract';
import { sql } from 'kysely';
import { inChunks } from '../../database/engine.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { read } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import { indexOfKey, indexOfRequestKey, requestKey } from '../../database/stored-request.ts';
import { IS_PENDING, LATEST_DELIVERY, storedLatest } from '../requests/queries.ts';
import type { Attempt } from './attempt-queries.ts';

/** SQL of the latest delivery that the row of a request shows. */

/** Names a captured request. */
export interface RequestName {
  readonly endpointId: number;
  readonly index: number;
}

export function nameOf({ endpointId, index }: RequestName): string {
  return `${endpointId} ${index}`;
}

export function keysOf(requests: readonly RequestName[]) {
  return requests.map(({ endpointId, index }) => requestKey(endpointId, index));
}

/** The key of a row's request, in two numbers that JavaScript can hold. */
export const REQUEST_NAME = [sql<number>`request_key >> 32`.as('endpointId'), indexOfRequestKey.as('index')] as const;

/** What a row shows of an attempt. */
export function latestOf({ kind, status, error, at }: Pick<Attempt, 'kind' | 'status' | 'error' | 'at'>): LastDelivery {
  return { kind, status, error, at: new Date(at).toISOString() };
}

/**
 * The newest failure of each forwarded request that a destination still has. A request with several destinations shows
 * it, also after another destination has accepted the request. A replay shows its own outcome.
 */
export async function failuresOf(transaction: DatabaseTransaction, attempts: readonly Attempt[]) {
  const forwarded = attempts.filter(({ kind, status }) => kind === 'forward' && isDelivered(status));
  const rows = await inChunks(forwarded, (chunk) =>
    transaction
      .selectFrom('delivery_attempts as a')
      .innerJoin('destinations', 'destinations.id', 'a.destination_id')
      .select([...REQUEST_NAME, 'a.status', 'a.error', 'a.sent_at'])
      .where('a.request_key', 'in', keysOf(chunk))
      .where((where) => where.or([where('status', 'is', null), where('status', '<', 200), where('status', '>', 299)]))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('delivery_attempts as later')
              .select('later.id')
              .whereRef('later.delivery_id', '=', 'a.delivery_id')
              .whereRef('later.id', '>', 'a.id'),
          ),
        ),
      )
      .orderBy('a.id')
      .execute(),
  );
  return new Map(
    rows.map((row) => [
      nameOf(row),
      latestOf({ kind: 'forward', status: row.status, error: row.error, at: row.sent_at }),
    ]),
  );
}

/** Stores the latest delivery of each request. */
export async function saveLatest(
  transaction: DatabaseTransaction,
  requests: readonly { readonly endpointId: number; readonly index: number; readonly latest: LastDelivery }[],
): Promise<void> {
  // One row per request: a statement can't change a row twice.
  const latest = new Map(requests.map((request) => [nameOf(request), request]));
  await inChunks([...latest.values()], (chunk) =>
    transaction
      .insertInto('latest_deliveries')
      .values(
        chunk.map((request) => ({
          request_key: requestKey(request.endpointId, request.index),
          latest: JSON.stringify(request.latest),
        })),
      )
      .onConflict((conflict) =>
        conflict.column('request_key').doUpdateSet((set) => ({ latest: set.ref('excluded.latest') })),
      )
      .execute(),
  );
}

/**
 * What a stored request shows of its deliveries. `plannedAt`: when its first attempt at a destination is due; null when
 * it waits for none. `isPending`: it waits for any attempt.
 */
export type DeliveryState = Awaited<ReturnType<typeof listDeliveryStates>>[number];

/** The states of those of the requests that are stored. */
async function listDeliveryStates(db: EngineDatabase, endpointId: number, indexes: readonly number[]) {
  const rows = await inChunks(indexes, (chunk) =>
    db
      .selectFrom('captured_requests')
      .select([
        indexOfKey.as('index'),
        'received_at as receivedAt',
        sql<number | null>`(select min(next_attempt_at) from deliveries where request_key = key and attempts = 0)`.as(
          'plannedAt',
        ),
        IS_PENDING.as('pending'),
        LATEST_DELIVERY.as('latest'),
      ])
      .where('key', 'in', keysOf(chunk.map((index) => ({ endpointId, index }))))
      .where(indexOfKey, '>=', (first) =>
        first.selectFrom('endpoints').select('first_index').where('id', '=', endpointId),
      )
      .execute(),
  );
  return rows.map(({ latest, pending, ...row }) => ({ ...row, isPending: pending === 1, last: storedLatest(latest) }));
}

export const latestQueries = { listDeliveryStates: read(listDeliveryStates) };
