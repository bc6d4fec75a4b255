import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Accounts, endpoints, captured requests. */
export const first: Migration = {
  version: 1,
  async up(db, engine) {
    await db.schema
      .createTable('users')
      .addColumn('id', engine.idType)
      .addColumn('username', 'text', (column) => column.notNull())
      .addColumn('username_key', 'text', (column) => column.notNull().unique())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('email_key', 'text', (column) => column.notNull().unique())
      .addColumn('email_verified', 'smallint', (column) => column.notNull())
      .addColumn('password_hash', 'text')
      .addColumn('display_name', 'text')
      .addColumn('subscription_tier', 'text', (column) => column.notNull())
      .addColumn('subscription_status', 'text', (column) => column.notNull())
      .addColumn('subscription_end_at', 'bigint')
      .addColumn('billing_interval', 'text')
      .addColumn('stripe_customer_id', 'text', (column) => column.unique())
      .addColumn('stripe_subscription_id', 'text', (column) => column.unique())
      .addColumn('stripe_customer_metadata', 'text')
      .addColumn('settings', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('sessions')
      .addColumn('token_hash', 'text', (column) => column.primaryKey())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('user_agent', 'text', (column) => column.notNull())
      .addColumn('ip', 'text', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('sessions_user').on('sessions').column('user_id').execute();
    await db.schema.createIndex('sessions_expiry').on('sessions').column('expires_at').execute();
    await db.schema
      .createTable('endpoints')
      .addColumn('id', engine.idType)
      .addColumn('uid', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', 'text')
      .addColumn('source', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('autosave', 'smallint', (column) => column.notNull())
      .addColumn('is_favorite', 'smallint', (column) => column.notNull())
      .addColumn('next_index', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('first_index', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('trimmed_to', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('saved_count', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('unsaved_count', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('latest_at', 'bigint')
      .execute();
    await db.schema.createIndex('endpoints_user').on('endpoints').column('user_id').execute();
    await db.schema.createIndex('endpoints_expiry').on('endpoints').column('expires_at').execute();
    await db.schema
      .createTable('endpoint_method_counts')
      .addColumn('endpoint_id', 'bigint', (column) => column.notNull())
      .addColumn('method', 'text', (column) => column.notNull())
      .addColumn('stored', 'bigint', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('endpoint_method_counts_key', ['endpoint_id', 'method'])
      .execute();
    await createCapturedRequests(db, engine);
  },
};

async function createCapturedRequests(...[db, engine]: Parameters<Migration['up']>): Promise<void> {
  await db.schema
    .createTable('captured_requests')
    // `integer primary key` makes the key SQLite's row id; PostgreSQL needs `bigint`.
    .addColumn('key', engine.name === 'sqlite' ? 'integer' : 'bigint', (column) => column.primaryKey())
    .addColumn('saved_id', 'bigint')
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('received_at', 'bigint', (column) => column.notNull())
    .addColumn('head', sql.raw(engine.bytesType), (column) => column.notNull())
    .addColumn('body', sql.raw(engine.bytesType))
    .execute();
  // Partial indexes, so that an unsaved capture does not pay for them.
  await sql`create unique index captured_requests_saved_id on captured_requests (saved_id) where saved_id is not null`.execute(
    db,
  );
  await sql`create index captured_requests_saved on captured_requests (key) where saved_id is not null`.execute(db);
  await db.schema
    .createTable('purges')
    .addColumn('id', engine.idType)
    .addColumn('endpoint_id', 'bigint', (column) => column.notNull())
    .addColumn('from_index', 'bigint', (column) => column.notNull())
    .addColumn('below_index', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('counters')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'bigint', (column) => column.notNull())
    .execute();
  await sql`insert into counters (name, value) values ('saved_id', 0)`.execute(db);
  if (engine.name === 'postgres') await sql`create sequence saved_request_ids`.execute(db);
  // Compressing a long body costs more time than the disk is worth, and a preview would have to decompress all of it.
  if (engine.name === 'postgres')
    await sql`alter table captured_requests alter column body set storage external`.execute(db);
}
