import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import { claimEnd } from '../../database/records.ts';
import { read, write } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';

/**
 * SQL of leases: only the process with the lease of a destination sends to it. They end by the database's clock. Each
 * statement locks the destinations in the order of ids, like every transaction, so that two can't deadlock.
 */

/** No other process than `owner` has the lease. */
function isFree({ engine }: EngineDatabase, owner: string) {
  return sql<SqlBool>`(lease_owner is null or lease_owner = ${owner} or lease_until <= ${engine.clock})`;
}

/**
 * Destinations with a due delivery, without those that other processes have. The own ones are first, then those that
 * were never sent to, then those whose lease ended longest ago.
 */
async function dueDestinations(db: EngineDatabase, owner: string, now: number, limit: number) {
  const rows = await db
    .selectFrom('destinations')
    .select('id')
    .where('due_at', '<=', now)
    .where(isFree(db, owner))
    .orderBy((order) => order.case().when('lease_owner', '=', owner).then(0).else(1).end())
    .orderBy((order) => order.fn.coalesce('lease_until', sql.lit(0)))
    .orderBy('due_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Takes the leases of those of the destinations that no other process has, for `leaseMs`. Returns which. Own ones are
 * among them: the answer to an earlier claim or release may have been lost.
 */
async function claimDestinations(db: EngineDatabase, ids: readonly number[], owner: string, leaseMs: number) {
  const free = db.selectFrom('destinations').select('id').where('id', 'in', ids).where(isFree(db, owner));
  const rows = await db
    .updateTable('destinations')
    .set({ lease_owner: owner, lease_until: claimEnd(db, leaseMs) })
    .where('id', 'in', free.orderBy('id').modifyEnd(db.engine.locks.claim))
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Extends the leases of a process to `leaseMs` from now. Returns the destinations that it still has. */
async function renewLeases(db: EngineDatabase, owner: string, leaseMs: number): Promise<number[]> {
  const own = db.selectFrom('destinations').select('id').where('lease_owner', '=', owner);
  const rows = await db
    .updateTable('destinations')
    .set({ lease_until: claimEnd(db, leaseMs) })
    .where('id', 'in', own.orderBy('id').modifyEnd(db.engine.locks.alone))
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Ends the leases of a process: those of some destinations, or all. Without an owner it ends the leases of all processes. */
async function releaseLeases(db: EngineDatabase, owner?: string, destinationIds?: readonly number[]): Promise<void> {
  let leases = db.selectFrom('destinations').select('id').where('lease_owner', 'is not', null);
  if (owner !== undefined) leases = leases.where('lease_owner', '=', owner);
  if (destinationIds !== undefined) leases = leases.where('id', 'in', destinationIds);
  await db
    .updateTable('destinations')
    .set({ lease_owner: null, lease_until: db.engine.clock })
    .where('id', 'in', leases.orderBy('id').modifyEnd(db.engine.locks.alone))
    .execute();
}

export const leaseQueries = {
  dueDestinations: read(dueDestinations),
  claimDestinations: write(claimDestinations),
  renewLeases: write(renewLeases),
  releaseLeases: write(releaseLeases),
};
