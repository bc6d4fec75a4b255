import type { Migration } from './migration.ts';

/**
 * Uniqueness of usernames by a key that folds more (`usernameKey` in records.ts). When two users get the same key, the
 * older one keeps the name. The other keeps the old key, and logs in with the exact spelling.
 */
export const usernameKeys: Migration = {
  version: 3,
  async up(db) {
    const users = await db.selectFrom('users').select(['id', 'username', 'username_key']).orderBy('id').execute();
    const taken = new Set(users.map((user) => user.username_key));
    for (const user of users) {
      const key = keyOf(user.username);
      if (key === user.username_key || taken.has(key)) continue;
      taken.add(key);
      await db.updateTable('users').set({ username_key: key }).where('id', '=', user.id).execute();
    }
  },
};

/** The key as of this version. A migration does not change with the code that came after it. */
function keyOf(username: string): string {
  return username.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
}
