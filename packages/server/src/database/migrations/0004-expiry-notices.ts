import type { Migration } from './migration.ts';

/** The expiry of an endpoint that its owner was notified of. */
export const expiryNotices: Migration = {
  version: 4,
  async up(db) {
    await db.schema.alterTable('endpoints').addColumn('noticed_expiry', 'bigint').execute();
  },
};
