import { Kysely, PostgresDialect } from 'kysely';
import { runQuery, withEngine } from '../remote.ts';
import type { EngineDatabase, QueryTable } from '../remote.ts';
import type { Tables } from '../schema.ts';
import { postgresEngine } from './engine.ts';
import { faultOf } from './faults.ts';
import { openPool } from './session.ts';
import type { SessionKind } from './session.ts';

/** A pool of sessions of one kind. */
export function openDatabase(url: string, kind: SessionKind): EngineDatabase {
  return withEngine(
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, kind) }) }),
    postgresEngine,
  );
}

/** Attempts to send a read while each connection from the pool turns out to be closed. */
const READ_TRIES = 3;
/**
 * A pool notices late that an idle connection was closed. A read changes nothing, so it is sent again on another
 * connection.
 */
export async function runRead(
  queries: QueryTable,
  db: EngineDatabase,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await runQuery(queries, db, name, args);
    } catch (error) {
      if (tries === READ_TRIES || faultOf(error) !== 'connection') throw error;
    }
  }
}
