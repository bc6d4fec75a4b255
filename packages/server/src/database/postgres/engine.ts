import { sql } from 'kysely';
import type { Expression, RawBuilder } from 'kysely';
import type { Engine } from '../engine.ts';

/** Any number that is the same in every Creel process. Advisory locks are per database. */
const MIGRATION_LOCK = 4_127_358_906;

/** Text can't hold NUL or invalid UTF-8, and bytes have no case. The escape format is ASCII and allows both. */
function folded(bytes: Expression<Uint8Array | null>): RawBuilder<string> {
  return sql<string>`lower(encode(${bytes}, 'escape') collate "C")`;
}

function includes(text: Expression<string>, escaped: string): RawBuilder<boolean> {
  return sql<boolean>`position(cast(${escaped} as text) in ${text}) > 0`;
}

/** SQL that is specific to PostgreSQL. */
export const postgresEngine: Engine = {
  name: 'postgres',
  bytesType: 'bytea',
  idType: sql`bigint generated always as identity primary key`,
  // The driver gets bytes as hexadecimal text and converts a row at once. With 25 MiB, the main thread stopped for 0.1 to 0.3 s.
  pieceBytes: 1024 * 1024,
  contains: (bytes, needle) => sql<boolean>`position(cast(${needle} as bytea) in ${bytes}) > 0`,
  bytesMayContain: (bytes, needle) => includes(folded(bytes), escapeFormat(needle)),
  mayContain(body, inBody, head, inHead) {
    const sent = sql<Uint8Array>`substr(${head}, position('\\x0a'::bytea in ${head}) + 1)`;
    const row = folded(sql<Uint8Array>`${sent} || '\\x0a'::bytea || coalesce(${body}, '')`);
    const conditions = [inBody, ...inHead].map((each) => includes(sql.ref<string>('row.text'), escapeFormat(each)));
    const any = sql.join(conditions, sql` or `);
    // `offset 0` makes PostgreSQL build the text once per row instead of once per needle.
    return sql<boolean>`exists (select from (select ${row} as text offset 0) as row where ${any})`;
  },
  async takeSavedIds(transaction, count) {
    const next = sql<{ id: number }>`select nextval('saved_request_ids') as id from generate_series(1, ${count}::int)`;
    const { rows } = await next.execute(transaction);
    return rows.map(({ id }) => id);
  },
  locks: {
    share: sql`for key share`,
    change: sql`for no key update`,
    alone: sql`for update`,
    claim: sql`for update skip locked`,
  },
  clock: sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  async tableExists(db, name) {
    const { rows } = await sql<{ found: boolean }>`select to_regclass(${name}) is not null as found`.execute(db);
    return rows[0]?.found === true;
  },
  async lockForMigration(transaction, tableMs) {
    await sql`set local lock_timeout = 0`.execute(transaction);
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
    await sql`set local lock_timeout = ${sql.lit(tableMs)}`.execute(transaction);
  },
};

/**
 * PostgreSQL's `escape` format of bytes: NUL and bytes from 0x80 as `\ooo`, a doubled backslash, the rest unchanged.
 * Each byte is translated separately, so contained bytes give contained text. The reverse does not always hold: `00` is
 * found inside `\000`, and `\` across two escapes.
 */
function escapeFormat(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\\\0\x80-\xff]/g, (character) => (character === '\\' ? '\\\\' : octal(character)));
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
