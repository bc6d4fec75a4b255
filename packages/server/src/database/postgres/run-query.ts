import { Kysely, PostgresDialect } from 'kysely';
import { QUERIES } from '../../queries.ts';
import { withEngine } from '../unbound.ts';
import type { EngineDatabase } from '../unbound.ts';
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
export async function runRead(db: EngineDatabase, name: string, args: readonly unknown[]): Promise<never> {
  for (let tries = 1; ; tries++) {
    try {
      return await runQuery(db, name, args);
    } catch (error) {
      if (tries === READ_TRIES || faultOf(error) !== 'connection') throw error;
    }
  }
}

/** Runs a registered query by name. */
export async function runQuery(db: EngineDatabase, name: string, args: readonly unknown[]): Promise<never> {
  const query: unknown = Reflect.get(QUERIES, name);
  if (typeof query !== 'function') throw new Error(`There is no query ${name}.`);
  // The name determines the result type; queries.ts connects the two.
  return (await query(db, ...args)) as never;
}
