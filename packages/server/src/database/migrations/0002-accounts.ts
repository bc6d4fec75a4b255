import type { Migration } from './migration.ts';

/** Third-party identities, mailed links, throttles, and the server's own secrets. */
export const accounts: Migration = {
  version: 2,
  async up(db) {
    await db.schema
      .createTable('identities')
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('identities_key', ['issuer', 'subject'])
      .execute();
    await db.schema.createIndex('identities_user').on('identities').column('user_id').execute();
    await db.schema
      .createTable('proven_identities')
      .addColumn('handle_hash', 'text', (column) => column.primaryKey())
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('email', 'text')
      .addColumn('email_verified', 'smallint', (column) => column.notNull())
      .addColumn('display_name', 'text')
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('proven_identities_expiry').on('proven_identities').column('expires_at').execute();
    await db.schema
      .createTable('mail_tokens')
      .addColumn('token_hash', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('purpose', 'text', (column) => column.notNull())
      .addColumn('email_key', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('mail_tokens_user').on('mail_tokens').column('user_id').execute();
    await db.schema.createIndex('mail_tokens_expiry').on('mail_tokens').column('expires_at').execute();
    await db.schema
      .createTable('throttles')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addColumn('blocked_until', 'bigint', (column) => column.notNull())
      .addColumn('forget_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('throttles_expiry').on('throttles').column('forget_at').execute();
    await db.schema
      .createTable('secrets')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
