import type { Migration } from './migration.ts';

/**
 * Keys of usernames with ẞ, which `usernameKey` in records.ts folds to `ss` like ß. When another user has that key, the
 * user keeps the old one, and logs in with the exact spelling. The index is for that.
 */
export const sharpS: Migration = {
  version: 11,
  compatibleSince: 9,
  async up(db) {
    await db.schema.createIndex('users_username').on('users').column('username').execute();
    const users = await db
      .selectFrom('users')
      .select(['id', 'username_key'])
      .where('username', 'like', '%ẞ%')
      .orderBy('id')
      .execute();
    for (const user of users) {
      const key = user.username_key.replaceAll('ß', 'ss');
      const other = await db.selectFrom('users').select('id').where('username_key', '=', key).executeTakeFirst();
      if (other === undefined)
        await db.updateTable('users').set({ username_key: key }).where('id', '=', user.id).execute();
    }
  },
};
