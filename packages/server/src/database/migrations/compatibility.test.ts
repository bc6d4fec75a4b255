import { sql } from 'kysely';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { Engine } from '../engine.ts';
import { SESSIONS, openDatabase } from '../postgres/session.ts';
import type { Database } from '../schema.ts';
import { sqliteDatabase } from '../sqlite/engine.ts';
import { MIGRATIONS, migrate } from './migrate.ts';

/** `compatibleSince` exists since this version. */
const FIRST_ROLLING = 9;

/** What a statement of a program relies on. */
interface Schema {
  /** By `table.column`. */
  readonly columns: ReadonlyMap<string, Column>;
  /** Constraints, unique indexes and triggers, by table. */
  readonly rules: readonly Rule[];
}
interface Column {
  readonly table: string;
  readonly type: string;
  readonly isNullable: boolean;
  /** A row can be inserted without a value for it. */
  readonly isOptional: boolean;
}
interface Rule {
  readonly table: string;
  readonly rule: string;
}

const RULES = {
  postgres: sql<Rule>`
    select conrelid::regclass::text as "table", pg_get_constraintdef(oid) as rule from pg_constraint
      where connamespace = current_schema()::regnamespace and contype <> 'n'
    union all select tablename, indexdef from pg_indexes
      where schemaname = current_schema() and indexdef like 'CREATE UNIQUE %'
    union all select tgrelid::regclass::text, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal`,
  sqlite: sql<Rule>`
    select tbl_name as "table", sql as rule from sqlite_master
      where type = 'trigger' or (type = 'index' and sql like 'create unique %')
    union all select m.name, 'FOREIGN KEY (' || f."from" || ') REFERENCES ' || f."table" || ' ON DELETE ' || f.on_delete
      from sqlite_master m join pragma_foreign_key_list(m.name) f where m.type = 'table'`,
};

async function readSchema(db: Database, { name }: Engine): Promise<Schema> {
  const tables = await db.introspection.getTables();
  const columns = tables.flatMap((table) =>
    table.columns.map(({ name: column, dataType, isNullable, hasDefaultValue, isAutoIncrementing }) => {
      const isOptional = isNullable || hasDefaultValue || isAutoIncrementing;
      return [`${table.name}.${column}`, { table: table.name, type: dataType, isNullable, isOptional }] as const;
    }),
  );
  return { columns: new Map(columns), rules: (await RULES[name].execute(db)).rows };
}

const keepsReferences = (rule: string): boolean =>
  !rule.includes(' REFERENCES ') || / ON DELETE (CASCADE|SET NULL)/.test(rule);

/** Why statements that work with the schema `before` may fail with the schema `after`. Empty if none can. */
function breaks(before: Schema, after: Schema): string[] {
  const tables = new Set([...before.columns.values()].map(({ table }) => table));
  const isOld = ({ table }: { readonly table: string }): boolean => tables.has(table);
  const isIn = (rules: readonly Rule[], { table, rule }: Rule): boolean =>
    rules.some((other) => other.table === table && other.rule === rule);
  return [
    ...[...before.columns].flatMap(([name, column]) => {
      const now = after.columns.get(name);
      if (now === undefined) return [`${name} is missing`];
      const isSame = now.type === column.type && now.isNullable === column.isNullable;
      return isSame && (now.isOptional || !column.isOptional) ? [] : [`${name} changed`];
    }),
    ...[...after.columns]
      .filter(([name, column]) => isOld(column) && !before.columns.has(name) && !column.isOptional)
      .map(([name]) => `inserts lack ${name}`),
    ...before.rules.filter((rule) => !isIn(after.rules, rule)).map(({ rule }) => `removed: ${rule}`),
    ...after.rules
      .filter((rule) => !isIn(before.rules, rule) && (isOld(rule) || !keepsReferences(rule.rule)))
      .map(({ rule }) => `added: ${rule}`),
  ];
}

const ENGINES = {
  async PostgreSQL() {
    const database = await createTestDatabase();
    const db = openDatabase(database.url, SESSIONS.migration);
    return { db, remove: () => db.destroy().then(database.remove) };
  },
  async SQLite() {
    const db = sqliteDatabase(new DatabaseSync(':memory:'));
    return { db, remove: () => db.destroy() };
  },
};

/** Nodes of two versions share a database (docs/decisions/0022-stopping-and-upgrades.md). */
describe.each(['PostgreSQL', 'SQLite'] as const)('schemas on %s', (name) => {
  let opened: Awaited<ReturnType<(typeof ENGINES)[typeof name]>>;
  const schemas = new Map<number, Schema>();
  const schemaOf = (version: number): Schema => schemas.get(version) ?? { columns: new Map(), rules: [] };
  const newest = MIGRATIONS.at(-1)?.version ?? 0;

  beforeAll(async () => {
    opened = await ENGINES[name]();
    for (const [at, { version }] of MIGRATIONS.entries()) {
      await migrate(opened.db, MIGRATIONS.slice(0, at + 1));
      schemas.set(version, await readSchema(opened.db, opened.db.engine));
    }
  });
  afterAll(() => opened.remove());

  test.each(MIGRATIONS.filter(({ version }) => version >= FIRST_ROLLING))(
    'version $version breaks no statement of the programs that it accepts',
    ({ version, compatibleSince = version }) => {
      expect(breaks(schemaOf(compatibleSince), schemaOf(version))).toEqual([]);
    },
  );

  test.each(MIGRATIONS.filter(({ version }) => version > FIRST_ROLLING))(
    'version $version accepts the program before it, if it breaks no statement of it',
    ({ version, compatibleSince = version }) => {
      expect(compatibleSince < version).toBe(breaks(schemaOf(version - 1), schemaOf(version)).length === 0);
    },
  );

  test.each<[string, string[]]>([
    ['alter table users rename column display_name to full_name', ['users.display_name is missing']],
    ['alter table destinations drop column append_path', ['destinations.append_path is missing']],
    ["alter table endpoints add column color text not null default ''", []],
    ['alter table endpoints add column color text', []],
    [
      'create table colors (id integer primary key, endpoint_id bigint references endpoints (id) on delete cascade)',
      [],
    ],
    [
      'create table colors (id integer primary key, endpoint_id bigint references endpoints (id))',
      [expect.stringMatching(/^added: FOREIGN KEY .* REFERENCES endpoints/)],
    ],
    [
      'create unique index one_name on endpoints (user_id, name)',
      [expect.stringMatching(/^added: create unique index one_name/i)],
    ],
    ['create index names on endpoints (user_id, name)', []],
  ])('what %s breaks', async (statement, expected) => {
    const transaction = await opened.db.startTransaction().execute();
    await sql.raw(statement).execute(transaction);
    const found = breaks(schemaOf(newest), await readSchema(transaction, opened.db.engine));
    await transaction.rollback().execute();
    expect(found).toEqual(expected);
  });
});
