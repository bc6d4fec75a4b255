import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { findUserByName, usernameKey } from '../records.ts';
import { sqliteDatabase } from '../sqlite/engine.ts';
import { MIGRATIONS, migrate } from './migrate.ts';

test('users with ẞ get the key that their names have today, and two users with the same key still log in', async () => {
  const db = sqliteDatabase(new DatabaseSync(':memory:'));
  await migrate(db, MIGRATIONS.slice(0, 10));
  const keysBefore = { GROẞ: 'groß', strasse: 'strasse', STRAẞE: 'straße' };
  for (const [username, key] of Object.entries(keysBefore))
    await db
      .insertInto('users')
      .values({
        username,
        username_key: key,
        email: `${key}@example.com`,
        email_key: `${key}@example.com`,
        email_verified: 0,
        subscription_tier: 'FREE',
        subscription_status: 'inactive',
        settings: '{}',
        created_at: 0,
      })
      .execute();
  await migrate(db);
  const foundBy = async (name: string) => (await findUserByName(db, name))?.username;
  expect(await foundBy('gross')).toBe('GROẞ');
  expect(await foundBy('Straße')).toBe('strasse');
  expect(await foundBy('strasse')).toBe('strasse');
  expect(await foundBy('STRAẞE')).toBe('STRAẞE');
  const rows = await db.selectFrom('users').select(['username', 'username_key']).orderBy('id').execute();
  expect(rows.map((row) => row.username_key)).toEqual(['gross', 'strasse', 'straße']);
  expect(usernameKey('STRAẞE')).toBe('strasse');
  await db.destroy();
});
