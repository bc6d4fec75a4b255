import type { Tier } from '@creel/contract';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { countRows } from '../database/engine.ts';
import type { Database } from '../database/schema.ts';
import { findUserByName } from '../database/records.ts';

/** `sum` is a `numeric` in PostgreSQL, which would be read as text. */
function sumOf(columns: string): RawBuilder<number> {
  return sql<number>`cast(coalesce(sum(${sql.raw(columns)}), 0) as bigint)`;
}

/** Every account with its number of endpoints, number of stored requests, and bytes of their bodies, oldest first. */
export async function listUsers(db: Database) {
  return db
    .selectFrom('users')
    .leftJoin('endpoints', 'endpoints.user_id', 'users.id')
    .select(['users.id', 'users.username', 'users.email', 'users.subscription_tier as plan'])
    .select(sql<number>`count(endpoints.id)`.as('endpoints'))
    .select(sumOf('endpoints.saved_count + endpoints.unsaved_count').as('requests'))
    .select((user) =>
      user
        .selectFrom('endpoint_method_counts')
        .innerJoin('endpoints as owned', 'owned.id', 'endpoint_method_counts.endpoint_id')
        .whereRef('owned.user_id', '=', 'users.id')
        .select(sumOf('bytes').as('bytes'))
        .as('bodyBytes'),
    )
    .groupBy(['users.id', 'users.username', 'users.email', 'users.subscription_tier'])
    .orderBy('users.id')
    .execute();
}

/** Changes the plan. `subscribed`: a subscription sets it, so nothing was changed. */
export async function setPlan(db: Database, username: string, plan: Tier) {
  return db.transaction().execute(async (transaction) => {
    const user = await findUserByName(transaction, username);
    if (user === undefined) return 'not-found';
    const changed = await transaction
      .updateTable('users')
      .set({ subscription_tier: plan })
      .where('id', '=', user.id)
      .where('stripe_subscription_id', 'is', null)
      .executeTakeFirst();
    return changed.numUpdatedRows > 0n ? 'done' : 'subscribed';
  });
}

/** Numbers of stored things. `bodyBytes` is the sum of the bodies' sizes. */
export async function readStats(db: Database) {
  const users = await countRows(db.selectFrom('users'));
  const endpoints = await countRows(db.selectFrom('endpoints'));
  const { saved, unsaved } = await db
    .selectFrom('endpoints')
    .select([sumOf('saved_count').as('saved'), sumOf('unsaved_count').as('unsaved')])
    .executeTakeFirstOrThrow();
  const { bodyBytes } = await db
    .selectFrom('endpoint_method_counts')
    .select(sumOf('bytes').as('bodyBytes'))
    .executeTakeFirstOrThrow();
  return { users, endpoints, requests: saved + unsaved, saved, bodyBytes };
}

/** Makes the space of deleted rows usable again, and updates the planner's statistics. */
export async function vacuumPostgres(db: Database): Promise<void> {
  await sql`vacuum (analyze)`.execute(db);
}
