import type { Engine } from './engine.ts';
import type { Database } from './schema.ts';

/**
 * A store's methods as plain functions with the database as the first argument. The same functions run in SQLite's
 * threads and, for PostgreSQL, in the main thread.
 */
export type Unbound<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (db: EngineDatabase, ...args: Args) => Result
    : never;
};

/** A database handle with its engine. */
export type EngineDatabase = Database & { readonly engine: Engine };

/** Adds the engine to a database handle. */
export function withEngine(db: Database, engine: Engine): EngineDatabase {
  return Object.assign(db, { engine });
}
