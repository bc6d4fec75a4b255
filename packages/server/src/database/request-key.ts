import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { DatabaseTransaction } from './schema.ts';

/** The index takes the low bits of a request's key: 4,294,967,296 captures per endpoint. */
export const INDEX_SPAN = 4_294_967_296;

/** The key of a request. The database computes it with 64 bits, because JavaScript's numbers have 53. */
export function requestKey(endpointId: number, index: number): RawBuilder<number> {
  return sql<number>`(cast(${endpointId} as bigint) * cast(${INDEX_SPAN} as bigint) + cast(${index} as bigint))`;
}

/** The key as a bound value, for prepared statements. */
export function requestKeyValue(endpointId: number, index: number): bigint {
  return BigInt(endpointId) * BigInt(INDEX_SPAN) + BigInt(index);
}

/** The index within a `key` column. */
export const indexOfKey = sql<number>`(key & ${sql.lit(INDEX_SPAN - 1)})`;
/** The index within a `request_key` column, which refers to a request. */
export const indexOfRequestKey = sql<number>`(request_key & ${sql.lit(INDEX_SPAN - 1)})`;

/** Deletes the deliveries of requests with keys from `from` up to `below`: pending ones and the history. */
export async function removeDeliveries(
  transaction: DatabaseTransaction,
  from: RawBuilder<number>,
  below: RawBuilder<number>,
): Promise<void> {
  for (const table of ['deliveries', 'delivery_attempts', 'latest_deliveries'] as const)
    await transaction.deleteFrom(table).where('request_key', '>=', from).where('request_key', '<', below).execute();
}
