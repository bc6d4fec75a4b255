import type { DatabaseSync } from 'node:sqlite';
import type { PackedCaptures } from '../packed-captures.ts';
import type { CaptureLimits, CaptureOutcome } from '../store.ts';
import { writeBatch } from '../write-captures.ts';
import type { CaptureStatements } from '../write-captures.ts';

/** Writes a batch in one transaction. When it throws, nothing was written. */
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
    // On a full disk SQLite has already rolled back.
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
