import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Destinations, their pending deliveries, and the attempts to send requests. */
export const deliveries: Migration = {
  version: 7,
  async up(db, engine) {
    await db.schema
      .createTable('destinations')
      .addColumn('id', engine.idType)
      .addColumn('endpoint_id', 'bigint', (column) => column.notNull().references('endpoints.id').onDelete('cascade'))
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('append_path', 'smallint', (column) => column.notNull())
      .addColumn('enabled', 'smallint', (column) => column.notNull())
      .addColumn('query', 'text', (column) => column.notNull())
      .addColumn('sign', 'smallint', (column) => column.notNull())
      .addColumn('from_index', 'bigint', (column) => column.notNull())
      .addColumn('failures', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('paused_at', 'bigint')
      .addColumn('pause_reason', 'text')
      .addColumn('due_at', 'bigint')
      .addColumn('lease_owner', 'text')
      .addColumn('lease_until', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('destinations_endpoint').on('destinations').column('endpoint_id').execute();
    await sql`create index destinations_due on destinations (due_at) where due_at is not null`.execute(db);
    await sql`create index destinations_lease on destinations (lease_owner) where lease_owner is not null`.execute(db);
    await db.schema
      .createTable('deliveries')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('request_key', 'bigint', (column) => column.notNull())
      .addColumn('destination_id', 'bigint', (column) =>
        column.notNull().references('destinations.id').onDelete('cascade'),
      )
      .addColumn('attempts', 'bigint', (column) => column.notNull())
      .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('deliveries_request', ['request_key', 'destination_id'])
      .execute();
    await db.schema
      .createIndex('deliveries_due')
      .on('deliveries')
      .columns(['destination_id', 'next_attempt_at', 'request_key'])
      .execute();
    await db.schema
      .createTable('delivery_attempts')
      .addColumn('id', engine.idType)
      .addColumn('request_key', 'bigint', (column) => column.notNull())
      .addColumn('delivery_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('destination_id', 'bigint')
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('method', 'text', (column) => column.notNull())
      .addColumn('attempt', 'bigint', (column) => column.notNull())
      .addColumn('status', 'bigint')
      .addColumn('status_text', 'text', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('duration_ms', 'bigint', (column) => column.notNull())
      .addColumn('sent_at', 'bigint', (column) => column.notNull())
      .addColumn('response_headers', 'text', (column) => column.notNull())
      .addColumn('response_body', sql.raw(engine.bytesType))
      .addColumn('response_truncated', 'smallint', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('delivery_attempts_request')
      .on('delivery_attempts')
      .columns(['request_key', 'id'])
      .execute();
    await db.schema
      .createIndex('delivery_attempts_delivery')
      .on('delivery_attempts')
      .columns(['delivery_id', 'id'])
      .execute();
    await db.schema
      .createTable('latest_deliveries')
      .addColumn('request_key', engine.name === 'sqlite' ? 'integer' : 'bigint', (column) => column.primaryKey())
      .addColumn('latest', 'text', (column) => column.notNull())
      .execute();
    await db.schema.alterTable('endpoints').addColumn('planned_to', 'bigint').execute();
    await db.schema
      .alterTable('endpoints')
      .addColumn('has_deliveries', 'smallint', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .alterTable('endpoints')
      .addColumn('spared_count', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`create index endpoints_planned on endpoints (planned_to) where planned_to is not null`.execute(db);
  },
};
