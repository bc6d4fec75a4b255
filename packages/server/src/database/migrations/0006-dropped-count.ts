import type { Migration } from './migration.ts';

/** How many unsaved requests were dropped from an endpoint, because newer ones took their place. */
export const droppedCount: Migration = {
  version: 6,
  async up(db) {
    await db.schema
      .alterTable('endpoints')
      .addColumn('dropped_count', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
