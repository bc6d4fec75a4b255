import type { Migration } from './migration.ts';

/** Subscriptions: checkouts, events, the mail outbox, and the state of the test gateway. */
export const billing: Migration = {
  version: 5,
  async up(db, engine) {
    await db.schema
      .createTable('billing_accounts')
      .addColumn('user_id', 'bigint', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('customer_key', 'text', (column) => column.notNull())
      .addColumn('period_end_at', 'bigint')
      .addColumn('next_check_at', 'bigint')
      .addColumn('lock_owner', 'text')
      .addColumn('locked_until', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.createIndex('billing_accounts_check').on('billing_accounts').column('next_check_at').execute();
    await db.schema
      .createTable('billing_checkouts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('session_id', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('billing_checkouts_user').on('billing_checkouts').column('user_id').execute();
    await db.schema
      .createTable('billing_events')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('received_at', 'bigint', (column) => column.notNull())
      .addColumn('done_at', 'bigint')
      .execute();
    await db.schema.createIndex('billing_events_received').on('billing_events').column('received_at').execute();
    await db.schema
      .createTable('billing_settings')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('mail_outbox')
      .addColumn('id', engine.idType)
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('send_after', 'bigint')
      .execute();
    await db.schema.createIndex('mail_outbox_due').on('mail_outbox').column('send_after').execute();
    await db.schema
      .createTable('test_gateway_customers')
      .addColumn('customer_id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('state', 'text', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('users_customer').on('users').column('stripe_customer_id').execute();
  },
};
