import type { DatabaseSync } from 'node:sqlite';
import type { PackedCaptures } from '../packed-captures.ts';
import type { CaptureLimits, CaptureOutcome } from '../store.ts';
import { writeBatch } from '../write-captures.ts';
import type { CaptureStatements } from '../write-captures.ts';

/** Writes a batch as one transaction: all of it, or, when it throws, nothing. */
export async function commitBatch(
  database: DatabaseSync,
  statements: CaptureStatements,
  batch: PackedCaptures,
  limits: CaptureLimits,
): Promise<CaptureOutcome> {
  database.exec('begin immediate');
  try {
    const outcome = await writeBatch(statements, batch, limits);
    database.exec('commit');
    return outcome;
  } catch (error) {
    // A full disk makes SQLite roll back by itself.
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
