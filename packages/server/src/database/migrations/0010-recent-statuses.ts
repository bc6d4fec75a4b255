import type { Migration } from './migration.ts';

/** The statuses of a destination's latest attempts. */
export const recentStatuses: Migration = {
  version: 10,
  compatibleSince: 9,
  async up(db) {
    await db.schema
      .alterTable('destinations')
      .addColumn('recent_statuses', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute();
  },
};
