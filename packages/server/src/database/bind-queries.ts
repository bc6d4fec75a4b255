import type { EngineDatabase } from './unbound.ts';

/** Queries as methods of a store. */
export type Bound<Queries> = {
  [Name in keyof Queries]: Queries[Name] extends (db: EngineDatabase, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

type Run = (name: string, args: readonly unknown[]) => Promise<never>;

/** RateLimit a table of queries into methods that call `run` with the query's name. */
export function bindQueries<Queries extends object>(queries: Queries, run: Run): Bound<Queries> {
  const methods = Object.keys(queries).map((name) => [name, (...args: unknown[]) => run(name, args)]);
  // `Object.fromEntries` loses the names of the keys.
  return Object.fromEntries(methods) as Bound<Queries>;
}
