import type { Migration } from './migration.ts';

/** How the captures of an endpoint are signed: the scheme, and its sealed secret in a table that no list reads. */
export const signingSecrets: Migration = {
  version: 8,
  async up(db) {
    await db.schema.alterTable('endpoints').addColumn('signing_scheme', 'text').execute();
    await db.schema
      .createTable('signing_secrets')
      .addColumn('endpoint_id', 'bigint', (column) =>
        column.primaryKey().references('endpoints.id').onDelete('cascade'),
      )
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute();
  },
};
