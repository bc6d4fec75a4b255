import { sql } from 'kysely';
import { indexOfKey, requestKey } from '../../database/stored-request.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { inChunks } from '../../database/engine.ts';
import type { EngineTransaction } from '../../database/remote.ts';
import { methodChanges } from '../../database/write-captures.ts';
import { IS_PENDING, SIZE, changeMethodCounts, lockEndpoint, newestTime } from '../requests/queries.ts';

/**
 * Removes requests that the trim spared and whose deliveries have ended. Ignores requests that are saved, within the
 * limit, or still pending. The caller has locked the endpoint, perhaps shared with captures. They may have trimmed it
 * since, so the bounds are read again.
 */
export async function removeSpared(transaction: EngineTransaction, endpointId: number, indexes: readonly number[]) {
  if (indexes.length === 0) return;
  const bounds = await lockEndpoint(transaction, endpointId, 'change');
  if (bounds === undefined) return;
  const isUnplanned = (index: number): boolean => bounds.planned_to !== null && index >= bounds.planned_to;
  const wasTrimmed = (index: number): boolean => index >= bounds.first_index && index < bounds.trimmed_to;
  const spared = [...new Set(indexes)].filter((index) => wasTrimmed(index) && !isUnplanned(index));
  const removed = await inChunks(spared, (chunk) => removeUnsaved(transaction, endpointId, chunk));
  if (removed.length === 0) return;
  const removedCounts = removed.map(({ method, size }) => ({ method, stored: 1, bytes: size }));
  await changeMethodCounts(transaction, endpointId, methodChanges([], removedCounts));
  await transaction
    .updateTable('endpoints')
    .set({
      unsaved_count: sql`unsaved_count - ${removed.length}`,
      spared_count: sql`spared_count - ${removed.length}`,
      dropped_count: sql`dropped_count + ${removed.length}`,
      latest_at: await newestTime(transaction, endpointId, bounds),
    })
    .where('id', '=', endpointId)
    .execute();
}

/** Deletes those of the requests that are unsaved and have no pending delivery, with their history. */
async function removeUnsaved(transaction: DatabaseTransaction, endpointId: number, indexes: readonly number[]) {
  const keysOf = (some: readonly number[]) => some.map((index) => requestKey(endpointId, index));
  const rows = await transaction
    .deleteFrom('captured_requests')
    .where('key', 'in', keysOf(indexes))
    .where('saved_id', 'is', null)
    .where(IS_PENDING, '=', 0)
    .returning([indexOfKey.as('index'), 'method', SIZE.as('size')])
    .execute();
  if (rows.length > 0)
    for (const table of ['delivery_attempts', 'latest_deliveries'] as const)
      await transaction
        .deleteFrom(table)
        .where('request_key', 'in', keysOf(rows.map(({ index }) => index)))
        .execute();
  return rows;
}
