import type { RawBuilder } from 'kysely';
import type { DatabaseTransaction } from '../../database/schema.ts';

/** Deletes the deliveries of requests with keys from `from` up to `below`: pending ones and the history. */
export async function removeDeliveries(
  transaction: DatabaseTransaction,
  from: RawBuilder<number>,
  below: RawBuilder<number>,
): Promise<void> {
  for (const table of ['deliveries', 'delivery_attempts', 'latest_deliveries'] as const)
    await transaction.deleteFrom(table).where('request_key', '>=', from).where('request_key', '<', below).execute();
}
