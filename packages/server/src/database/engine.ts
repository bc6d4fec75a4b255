import type { Expression, RawBuilder } from 'kysely';
import type { Database, DatabaseTransaction } from './schema.ts';

/** The few places where the two databases do not speak alike. Everything else is one set of queries. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  /** Column type of bytes. */
  readonly bytesType: 'blob' | 'bytea';
  /** Column definition of an id that is given by the database and never given twice. */
  readonly idType: RawBuilder<unknown>;
  /** True where bytes contain `needle`. */
  contains(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean>;
  /** True at least where bytes contain `needle` without regard to ASCII case; `needle` is in lower case already. */
  bytesMayContain(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean>;
  /**
   * True at least where `body` contains `inBody`, or `head` after its first line contains everything of one of the lists of `inHead`: the
   * same as several of `bytesMayContain`, in fewer passes over a row.
   */
  mayContain(
    body: Expression<Uint8Array | null>,
    inBody: Uint8Array,
    head: Expression<Uint8Array>,
    inHead: readonly (readonly Uint8Array[])[],
  ): RawBuilder<boolean>;
  /** Ids for saved requests, never given twice; may leave gaps. */
  takeSavedIds(transaction: DatabaseTransaction, count: number): Promise<readonly number[]>;
  tableExists(db: Database, name: string): Promise<boolean>;
  /** Holds off every other process that wants to migrate, until the transaction ends. */
  lockForMigration(transaction: DatabaseTransaction): Promise<void>;
}
