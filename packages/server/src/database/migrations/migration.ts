import type { Engine } from '../engine.ts';
import type { DatabaseTransaction } from '../schema.ts';

/** One step of the schema. Numbers are never reused, and a released migration never changes. */
export interface Migration {
  readonly version: number;
  /**
   * The oldest schema version whose program works with the migrated database, so that nodes can be upgraded one after
   * the other. Default: this version, so older programs refuse to start.
   */
  readonly compatibleSince?: number;
  readonly up: (db: DatabaseTransaction, engine: Engine) => Promise<void>;
}
