import type { Expression, RawBuilder, SelectQueryBuilder } from 'kysely';
import type { Database, DatabaseTransaction, Tables } from './schema.ts';

/**
 * How a transaction locks a row until it ends. On PostgreSQL they are `for key share`, `for no key update`, `for update`
 * and `for update skip locked` (docs/decisions/0023-deliveries.md). Planning and recording deliveries `share` the row of
 * an endpoint with each other and with captures. Captures and others that `change` its counters exclude each other.
 * Removing requests and changing destinations lock the row `alone`. A `claim` omits rows that are locked now.
 */
export type RowLock = 'share' | 'change' | 'alone' | 'claim';

/** The differences between the two databases. All other SQL is shared. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  readonly bytesType: 'blob' | 'bytea';
  /** Column definition of a generated id that is never reused. */
  readonly idType: RawBuilder<unknown>;
  /** Bytes of a body that one statement reads at most, where a statement does not read the whole body for them. */
  readonly pieceBytes: number | undefined;
  contains(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean>;
  /** Matches at least when the bytes contain `needle`, ignoring ASCII case. `needle` is already lowercase. */
  bytesMayContain(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean>;
  /**
   * Matches at least when `body` contains `inBody`, or `head` after its first line contains one of `inHead`. Equal to
   * several `bytesMayContain`, with fewer passes over a row.
   */
  mayContain(
    body: Expression<Uint8Array | null>,
    inBody: Uint8Array,
    head: Expression<Uint8Array>,
    inHead: readonly Uint8Array[],
  ): RawBuilder<boolean>;
  /** Ids for saved requests. Never reused; may leave gaps. */
  takeSavedIds(transaction: DatabaseTransaction, count: number): Promise<number[]>;
  /** The end of a `select` that locks its rows. SQLite has one writer, so it needs none. */
  readonly locks: Readonly<Record<RowLock, RawBuilder<unknown>>>;
  /** The database's clock in milliseconds since 1970, which is the same for all processes. */
  readonly clock: RawBuilder<number>;
  tableExists(db: Database, name: string): Promise<boolean>;
  /**
   * Blocks migrations by other processes until the transaction ends, and waits for theirs without a limit. On PostgreSQL
   * later statements of the transaction wait for a table in use for `tableMs` milliseconds.
   */
  lockForMigration(transaction: DatabaseTransaction, tableMs: number): Promise<void>;
}

/** Sizes of chunks. Few sizes make few statements, which SQLite's statement cache holds. */
const SIZES = [64, 32, 16, 8, 4, 2, 1];

/** Runs a statement for several rows at a time, which saves round trips. Returns all results in order. */
export async function inChunks<Row, Result>(
  rows: readonly Row[],
  run: (chunk: Row[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  let at = 0;
  for (const size of SIZES)
    for (; rows.length - at >= size; at += size) results.push(...(await run(rows.slice(at, at + size))));
  return results;
}

/** The number of rows that a query selects. */
export async function countRows<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const { count } = await query.select((select) => select.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return count;
}
