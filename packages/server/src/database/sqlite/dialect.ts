import { SqliteDialect } from 'kysely';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Kysely over `node:sqlite`, with every statement prepared once. */
export function sqliteDialect(database: DatabaseSync): SqliteDialect {
  const statements = new Map<string, StatementSync>();
  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(text) {
        // On a full disk SQLite has already rolled back. A second rollback would fail and hide the disk's error.
        if (text === 'rollback' && !database.isTransaction) return NOTHING_TO_DO;
        const statement = statements.get(text) ?? database.prepare(text);
        if (statements.size < MAX_STATEMENTS) statements.set(text, statement);
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...parameters.map(bindable)),
          run: (parameters) => statement.run(...parameters.map(bindable)),
          iterate: () => {
            throw new Error('Streaming is not used: results are bounded by their limit.');
          },
        };
      },
    },
  });
}

const NOTHING_TO_DO = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

/** Few texts contain literals (`substr(body, 1, 16388)`). The limit protects against a query that generates many. */
const MAX_STATEMENTS = 500;

function bindable(value: unknown): SQLInputValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || value === null)
    return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`SQLite can't bind a ${typeof value}.`);
}
