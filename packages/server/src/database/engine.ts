import type { Expression, RawBuilder } from 'kysely';
import type { Database, DatabaseTransaction } from './schema.ts';

/** The differences between the two databases. All other SQL is shared. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  /** Column type of bytes. */
  readonly bytesType: 'blob' | 'bytea';
  /** Column definition of a generated id that is never reused. */
  readonly idType: RawBuilder<unknown>;
  /** Matches when the bytes contain `needle`. */
  contains(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean>;
  /** Matches at least when the bytes contain `needle`, ignoring ASCII case. `needle` is already lowercase. */
  bytesMayContain(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean>;
  /**
   * Matches at least when `body` contains `inBody`, or when `head` after its first line contains all needles of one
   * list in `inHead`. Equal to several `bytesMayContain`, with fewer passes over a row.
   */
  mayContain(
    body: Expression<Uint8Array | null>,
    inBody: Uint8Array,
    head: Expression<Uint8Array>,
    inHead: readonly (readonly Uint8Array[])[],
  ): RawBuilder<boolean>;
  /** Ids for saved requests. Never reused; may leave gaps. */
  takeSavedIds(transaction: DatabaseTransaction, count: number): Promise<readonly number[]>;
  tableExists(db: Database, name: string): Promise<boolean>;
  /** Blocks migrations by other processes until the transaction ends. */
  lockForMigration(transaction: DatabaseTransaction): Promise<void>;
}
