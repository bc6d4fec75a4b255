import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabaseUrl } from './test-database.ts';

test('tests get a durable PostgreSQL', async () => {
  const client = new pg.Client(await testDatabaseUrl());
  await client.connect();
  onTestFinished(() => client.end());
  const { rows } = await client.query(
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, current_setting('full_page_writes') as pages",
  );
  expect(rows).toEqual([{ fsync: 'on', commit: 'on', pages: 'on' }]);
});

test('all tests of a run share it', async () => {
  expect(await testDatabaseUrl()).toBe(await testDatabaseUrl());
});
