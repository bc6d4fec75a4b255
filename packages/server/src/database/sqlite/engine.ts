import { Kysely, sql, SqliteDialect } from 'kysely';
import type { Expression, RawBuilder } from 'kysely';
import type { Engine } from '../engine.ts';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { withEngine } from '../remote.ts';
import type { EngineDatabase } from '../remote.ts';
import type { Tables } from '../schema.ts';

function bytesMayContain(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean> {
  return sql<boolean>`instr(cast(lower(cast(${bytes} as text)) as blob), ${needle}) > 0`;
}

/** SQL that is specific to SQLite. */
const sqliteEngine: Engine = {
  name: 'sqlite',
  bytesType: 'blob',
  idType: sql`integer primary key autoincrement`,
  pieceBytes: undefined,
  contains: (bytes, needle) => sql<boolean>`instr(${bytes}, ${needle}) > 0`,
  bytesMayContain,
  mayContain(body, inBody, head, inHead) {
    const sent = sql<Uint8Array>`substr(${head}, instr(${head}, x'0a') + 1)`;
    const conditions = [bytesMayContain(body, inBody), ...inHead.map((needle) => bytesMayContain(sent, needle))];
    return sql<boolean>`(${sql.join(conditions, sql` or `)})`;
  },
  async takeSavedIds(transaction, count) {
    const { value } = await transaction
      .updateTable('counters')
      .set({ value: sql`value + ${count}` })
      .where('name', '=', 'saved_id')
      .returning('value')
      .executeTakeFirstOrThrow();
    return Array.from({ length: count }, (_, nth) => value - count + 1 + nth);
  },
  locks: { share: sql``, change: sql``, alone: sql``, claim: sql`` },
  clock: sql`cast(unixepoch('subsec') * 1000 as integer)`,
  async tableExists(db, name) {
    const { rows } = await sql`select 1 from sqlite_schema where type = 'table' and name = ${name}`.execute(db);
    return rows.length > 0;
  },
  async lockForMigration(transaction) {
    // The first write of a transaction takes SQLite's write lock; other processes wait for it.
    await sql`pragma user_version = 0`.execute(transaction);
  },
};

/** A database handle over `node:sqlite`, with every statement prepared once. Closing it closes the connection. */
export function sqliteDatabase(database: DatabaseSync): EngineDatabase {
  const statements = new Map<string, StatementSync>();
  const dialect = new SqliteDialect({
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
  return withEngine(new Kysely<Tables>({ dialect }), sqliteEngine);
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
