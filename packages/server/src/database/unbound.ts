import type { Engine } from './engine.ts';
import type { Database } from './schema.ts';

/**
 * A store's methods as plain functions of a database: `f(args)` becomes `f(db, args…, )` with the engine reachable where a query
 * needs it. The same functions run inside SQLite's threads and, for PostgreSQL, in the main one.
 */
export type Unbound<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (db: EngineDatabase, ...args: Args) => Result
    : never;
};

/** A database that knows its engine. */
export type EngineDatabase = Database & { readonly engine: Engine };

/** Puts the engine beside the database's own methods. */
export function withEngine(db: Database, engine: Engine): EngineDatabase {
  return Object.assign(db, { engine });
}
