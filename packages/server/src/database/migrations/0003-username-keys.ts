import { usernameKey } from '../username-key.ts';
import type { Migration } from './migration.ts';

/**
 * Usernames are told apart by a key that folds more (username-key.ts). Where two people are the same by it, the one who came first gets
 * it; the other one keeps the key that they had, and is reached by provider until somebody renames one of them.
 */
export const usernameKeys: Migration = {
  version: 3,
  async up(db) {
    const users = await db.selectFrom('users').select(['id', 'username', 'username_key']).orderBy('id').execute();
    const taken = new Set(users.map((user) => user.username_key));
    for (const user of users) {
      const key = usernameKey(user.username);
      if (key === user.username_key || taken.has(key)) continue;
      taken.add(key);
      await db.updateTable('users').set({ username_key: key }).where('id', '=', user.id).execute();
    }
  },
};
