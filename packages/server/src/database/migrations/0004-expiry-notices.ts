import type { Migration } from './migration.ts';

/** Which expiry of an endpoint its owner was told of. */
export const expiryNotices: Migration = {
  version: 4,
  async up(db) {
    await db.schema.alterTable('endpoints').addColumn('noticed_expiry', 'bigint').execute();
  },
};
