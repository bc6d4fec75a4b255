import type { Engine } from '../engine.ts';
import type { DatabaseTransaction } from '../schema.ts';

/** One step of the schema. Numbers are never reused, and a released migration never changes. */
export interface Migration {
  readonly version: number;
  readonly up: (db: DatabaseTransaction, engine: Engine) => Promise<void>;
}
