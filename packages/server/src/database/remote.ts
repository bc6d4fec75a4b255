import type { Engine } from './engine.ts';
import type { Database, DatabaseTransaction } from './schema.ts';

export type EngineDatabase = Database & { readonly engine: Engine };
export type EngineTransaction = DatabaseTransaction & { readonly engine: Engine };

/** Adds the engine to a handle of Kysely and returns the same handle. */
export function withEngine<Handle extends Database>(db: Handle, engine: Engine): Handle & { readonly engine: Engine } {
  return Object.assign(db, { engine });
}

/** Runs all of a query in one transaction. */
export const inTransaction =
  <Args extends unknown[], Result>(run: (transaction: EngineTransaction, ...args: Args) => Promise<Result>) =>
  (db: EngineDatabase, ...args: Args): Promise<Result> =>
    db.transaction().execute((transaction) => run(withEngine(transaction, db.engine), ...args));

type RunQuery = (db: EngineDatabase, ...args: never[]) => Promise<unknown>;

/** A query with its kind, which decides where and how it runs. */
export interface MarkedQuery<Run extends RunQuery = RunQuery> {
  readonly kind: 'read' | 'scan' | 'write' | 'freeing' | 'unsynced';
  readonly run: Run;
}

/** Queries by their names, which are unique in the whole server. */
export type QueryTable = Readonly<Record<string, MarkedQuery>>;

/** A short read. */
export const read = <Run extends RunQuery>(run: Run): MarkedQuery<Run> => ({ kind: 'read', run });
/** A read that may take long. It has a separate thread. */
export const scan = <Run extends RunQuery>(run: Run): MarkedQuery<Run> => ({ kind: 'scan', run });
/** A write that waits until the disk has it, and fails on a full disk. */
export const write = <Run extends RunQuery>(run: Run): MarkedQuery<Run> => ({ kind: 'write', run });
/** A write that frees disk space, or that a user needs for that. It may use the reserve on a full disk. */
export const freeing = <Run extends RunQuery>(run: Run): MarkedQuery<Run> => ({ kind: 'freeing', run });
/** Commits without waiting for the disk. A power cut may undo it and later commits. For work that is repeated then. */
export const unsynced = <Run extends RunQuery>(run: Run): MarkedQuery<Run> => ({ kind: 'unsynced', run });

/**
 * The handle to the queries of a feature, the same for both databases. Times are milliseconds since 1970 and are passed
 * in. Only claims use the database's clock, because the clocks of processes differ. "Not found" is `undefined` or
 * `false`. A thrown error means that the database failed and the call changed nothing.
 */
export type Remote<Queries extends QueryTable> = {
  readonly [Name in keyof Queries]: Queries[Name]['run'] extends (
    db: EngineDatabase,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** Turns queries into methods that call `run` with the query's kind, name and arguments. */
export function bindQueries<Queries extends QueryTable>(
  queries: Queries,
  run: (kind: MarkedQuery['kind'], name: string, args: readonly unknown[]) => Promise<unknown>,
): Remote<Queries> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, { kind }]): readonly unknown[] => [
      name,
      (...args: unknown[]) => run(kind, name, args),
    ]),
  );
}

/** Runs a query by its name. The threads of a database get names, because functions can't be posted. */
export async function runQuery(
  queries: QueryTable,
  db: EngineDatabase,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  const query = queries[name];
  if (query === undefined) throw new Error(`There is no query ${name}.`);
  return Reflect.apply(query.run, undefined, [db, ...args]);
}
