import { sql } from 'kysely';
import { indexOfKey, requestKey } from '../../database/stored-request.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { inChunks } from '../../database/engine.ts';
import type { EngineTransaction } from '../../database/remote.ts';
import { SIZE, latestOf, lockEndpoint } from '../requests/queries.ts';

/**
 * Removes requests that the trim spared and whose deliveries have ended. Ignores requests that are saved, within the
 * limit, or still pending. The caller has locked the endpoint, perhaps shared with captures. They may have trimmed it
 * since, so the bounds are read again.
 */
export async function removeSpared(
  transaction: EngineTransaction,
  endpointId: number,
  indexes: readonly number[],
): Promise<void> {
  if (indexes.length === 0) return;
  const bounds = await lockEndpoint(transaction, endpointId, 'counters');
  if (bounds === undefined) return;
  const isUnplanned = (index: number): boolean => bounds.planned_to !== null && index >= bounds.planned_to;
  const spared = new Set(indexes.filter((index) => index < bounds.trimmed_to && !isUnplanned(index)));
  const present = [...spared].filter((index) => index >= bounds.first_index);
  const changes = new Map<string, { stored: number; bytes: number }>();
  const removed = await inChunks(present, (chunk) => removeUnsaved(transaction, endpointId, chunk));
  if (removed.length === 0) return;
  for (const { method, size } of removed) {
    const change = changes.get(method) ?? { stored: 0, bytes: 0 };
    changes.set(method, { stored: change.stored + 1, bytes: change.bytes + size });
  }
  for (const [method, { stored, bytes }] of changes)
    await transaction
      .updateTable('endpoint_method_counts')
      .set({ stored: sql`stored - ${stored}`, bytes: sql`bytes - ${bytes}` })
      .where('endpoint_id', '=', endpointId)
      .where('method', '=', method)
      .execute();
  await transaction
    .updateTable('endpoints')
    .set({
      unsaved_count: sql`unsaved_count - ${removed.length}`,
      spared_count: sql`spared_count - ${removed.length}`,
      dropped_count: sql`dropped_count + ${removed.length}`,
      latest_at: await latestOf(transaction, endpointId, bounds),
    })
    .where('id', '=', endpointId)
    .execute();
}

/** Deletes those of the requests that are unsaved and have no pending delivery, with their history. */
async function removeUnsaved(
  transaction: DatabaseTransaction,
  endpointId: number,
  indexes: readonly number[],
): Promise<{ readonly method: string; readonly size: number }[]> {
  const keysOf = (some: readonly number[]) => some.map((index) => requestKey(endpointId, index));
  const rows = await transaction
    .deleteFrom('captured_requests')
    .where('key', 'in', keysOf(indexes))
    .where('saved_id', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('deliveries').select('id').whereRef('request_key', '=', 'captured_requests.key'))),
    )
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
