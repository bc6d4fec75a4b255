import type { EngineDatabase } from './unbound.ts';

/** The queries as methods of a store: each bound to a way of running it. */
export type Bound<Queries> = {
  [Name in keyof Queries]: Queries[Name] extends (db: EngineDatabase, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

type Run = (name: string, args: readonly unknown[]) => Promise<never>;

/** Turns a table of queries into methods that run them somewhere, by name. */
export function bindQueries<Queries extends object>(queries: Queries, run: Run): Bound<Queries> {
  const methods = Object.keys(queries).map((name) => [name, (...args: unknown[]) => run(name, args)]);
  // `Object.fromEntries` forgets the names; the keys are the table's own.
  return Object.fromEntries(methods) as Bound<Queries>;
}
