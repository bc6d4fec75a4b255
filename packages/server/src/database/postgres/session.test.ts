import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUERIES } from '../../queries.ts';
import { StorageProblem, StorageUnavailable } from '../store.ts';
import { startPgBouncer } from '../../../test/pgbouncer.ts';
import { captureMany, everything, indexesOf, someEndpoint } from '../../../test/store-world.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';
import { faultOf, startProblem } from './faults.ts';
import { openPostgresStore } from './postgres-store.ts';
import { SESSIONS, openPool } from './session.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(() => database.remove());

describe('with PgBouncer before PostgreSQL', () => {
  test('in session mode everything works', async () => {
    const bouncer = await startPgBouncer(database.url, 'session');
    const store = await openPostgresStore(bouncer.url, QUERIES);
    const { id } = await someEndpoint(store);
    expect(await captureMany(store, id, 3)).toHaveLength(3);
    expect(indexesOf(await everything(store, id))).toEqual([2, 1, 0]);
    await store.close();
    await bouncer.stop();
  });

  test.each(['transaction', 'statement'] as const)('%s mode is rejected, before anything changes', async (mode) => {
    const bouncer = await startPgBouncer(database.url, mode);
    const opening = openPostgresStore(bouncer.url, QUERIES);
    await expect(opening).rejects.toBeInstanceOf(StorageProblem);
    await expect(opening).rejects.toThrow('share sessions of PostgreSQL. Set its pool mode to session');
    expect(await database.run(`select to_regclass('schema_version') as found`)).toEqual([{ found: null }]);
    await bouncer.stop();
  });
});

test.each(['capture', 'write', 'migration'] as const)(
  'defaults of the role and the database have no effect on %s sessions',
  async (kind) => {
    for (const setting of [
      `statement_timeout = '7s'`,
      `lock_timeout = '7s'`,
      `idle_in_transaction_session_timeout = '7s'`,
      `idle_session_timeout = '7s'`,
      `default_transaction_isolation = 'serializable'`,
    ])
      await database.run(`alter database ${database.name} set ${setting}`);
    const pool = openPool(database.url, SESSIONS[kind]);
    const { rows } =
      await pool.query(`select name, setting from pg_settings where name like '%\\_timeout' and setting = '7000'
      or name = 'transaction_isolation' and setting <> 'read committed'`);
    expect(rows).toEqual([]);
    await pool.end();
  },
);

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'has a certificate of an unknown authority. Add sslrootcert=FILE'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'has a certificate of an unknown authority. Add sslrootcert=FILE'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'has a certificate of an unknown authority. Add sslrootcert=FILE'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'has a certificate for another host name. Write that name in DATABASE_URL.'],
])('TLS that fails with %s is explained, and counts as an unavailable server', (code, sentence) => {
  const error = Object.assign(new Error('x'), { code });
  expect(faultOf(error)).toBe('server');
  expect(startProblem(error, 'postgres://u:secret@h/d').message).toContain(`PostgreSQL at h/d ${sentence}`);
});

test.each(['timeout expired', 'timeout exceeded when trying to connect', 'Query read timeout'])(
  'the sentence about “%s” names what to check',
  (message) =>
    expect(startProblem(new Error(message), 'postgres://u:secret@h/d').message).toBe(
      'PostgreSQL at h/d does not answer in time. Correct DATABASE_URL, or check the network. A connection pooler needs at least 16 sessions per node.',
    ),
);

test.each([
  ['57P01', 'terminating connection due to administrator command'],
  ['ECONNRESET', 'read ECONNRESET'],
  [undefined, 'Client has encountered a connection error and is not queryable'],
])('a connection that ends at the start (%s) is explained', (code, message) => {
  const error = Object.assign(new Error(message), code && { code });
  expect(startProblem(error, 'postgres://u:secret@h/d').message).toBe(
    `PostgreSQL at h/d ended the connection (${message}). Try again. The log of PostgreSQL may have the cause.`,
  );
});

test('a full disk of PostgreSQL is explained', () => {
  const error = Object.assign(new Error('could not extend file'), { code: '53100' });
  expect(startProblem(error, 'postgres://u:secret@h/d').message).toBe(
    'The disk of PostgreSQL at h/d is full. Make room on it, and try again.',
  );
});

test('the sentence about pg_hba.conf has the reason of PostgreSQL', () => {
  const error = Object.assign(new Error('connection requires a valid client certificate'), { code: '28000' });
  expect(startProblem(error, 'postgres://u:secret@h/d').message).toBe(
    `PostgreSQL at h/d does not let this user in (connection requires a valid client certificate). Correct DATABASE_URL, or the server's pg_hba.conf.`,
  );
});

test.each([
  ['postgres://', 'the default host'],
  ['postgres:///d', 'the default host/d'],
  ['postgres://localhost/d?host=/run', '/run/d'],
])('the sentence about %s names %s', (url, where) => {
  const error = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  expect(startProblem(error, url).message).toContain(`PostgreSQL at ${where} refuses connections`);
});

test.each([
  ['the user', 'alter role ROLE nologin', 'alter role ROLE login'],
  ['the password', `alter role ROLE password 'other'`, `alter role ROLE password 'known'`],
  ['connections', 'revoke connect on database DATABASE from public', 'grant connect on database DATABASE to public'],
  ['access to a table', 'revoke all on users from ROLE', 'grant all on users to ROLE'],
])('while PostgreSQL refuses %s, storage is unavailable, and then works again', async (_, refuse, accept) => {
  const role = `${database.name}_role`;
  const run = (text: string) => database.run(text.replaceAll('ROLE', role).replaceAll('DATABASE', database.name));
  await run(`create role ROLE login password 'known'; alter default privileges grant all on tables to ROLE;
    alter default privileges grant all on sequences to ROLE`);
  await (await openPostgresStore(database.url, QUERIES)).close();
  await run('grant all on schema public to ROLE');
  const url = new URL(database.url);
  url.username = role;
  url.password = 'known';
  const store = await openPostgresStore(url.href, QUERIES);
  await run(refuse);
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ROLE'`);
  await expect(store.findUser(1)).rejects.toThrow(StorageUnavailable);
  await run(accept);
  await expect(store.findUser(1)).resolves.toBeUndefined();
  await store.close();
  await run('drop owned by ROLE; drop role ROLE');
});
