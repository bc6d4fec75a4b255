import type { SigningScheme } from '@creel/contract';
import { inTransaction, read, scan, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';
import { freeBytes } from '../../http/body-buffer.ts';
import { LARGE_BODY_BYTES, largeBodyQueue } from '../../workers/sliced-work.ts';
import { findWhole } from '../requests/queries.ts';
import { explainMismatch } from './explain-mismatch.ts';
import type { Mismatch } from './explain-mismatch.ts';

/** Returns the sealed secret of an endpoint, or `undefined` if it has none. */
async function findSigningSecret(db: EngineDatabase, endpointId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('signing_secrets')
    .select('sealed')
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
  return row?.sealed;
}

/** Any sealed secret, with its endpoint; `undefined` if there is none. */
async function findAnySigningSecret(db: EngineDatabase) {
  const row = await db.selectFrom('signing_secrets').selectAll().limit(1).executeTakeFirst();
  return row && { endpointId: row.endpoint_id, sealed: row.sealed };
}

/** Sets or replaces the scheme and the sealed secret of an endpoint. Returns false if the endpoint does not exist. */
async function setSigningSecret(
  transaction: EngineTransaction,
  endpointId: number,
  scheme: SigningScheme,
  sealed: string,
): Promise<boolean> {
  const endpoint = await transaction
    .updateTable('endpoints')
    .set({ signing_scheme: scheme })
    .where('id', '=', endpointId)
    .executeTakeFirst();
  if (endpoint.numUpdatedRows === 0n) return false;
  await transaction
    .insertInto('signing_secrets')
    .values({ endpoint_id: endpointId, sealed })
    .onConflict((conflict) => conflict.column('endpoint_id').doUpdateSet({ sealed }))
    .execute();
  return true;
}

async function deleteSigningSecret(transaction: EngineTransaction, endpointId: number): Promise<void> {
  // First, as in `setSigningSecret`: the lock of the endpoint's row keeps scheme and secret together.
  await transaction.updateTable('endpoints').set({ signing_scheme: null }).where('id', '=', endpointId).execute();
  await transaction.deleteFrom('signing_secrets').where('endpoint_id', '=', endpointId).execute();
}

/**
 * Says why the signature of a stored request of `size` bytes does not match. A scan, because it tries many bodies and
 * keys. `undefined` if the request does not exist any more.
 */
async function explainStored(
  db: EngineDatabase,
  endpointId: number,
  { index, size }: { readonly index: number; readonly size: number },
  mismatch: Omit<Mismatch, 'body'>,
): Promise<string | undefined> {
  const explain = async (): Promise<string | undefined> => {
    const record = await findWhole(db, endpointId, index);
    if (record === undefined) return undefined;
    const body = record.body ?? new Uint8Array();
    return explainMismatch({ ...mismatch, body }).finally(() => freeBytes(body));
  };
  return size > LARGE_BODY_BYTES ? largeBodyQueue.run(endpointId, explain) : explain();
}

export const signatureQueries = {
  explainStored: scan(explainStored),
  findSigningSecret: read(findSigningSecret),
  findAnySigningSecret: read(findAnySigningSecret),
  setSigningSecret: write(inTransaction(setSigningSecret)),
  deleteSigningSecret: write(inTransaction(deleteSigningSecret)),
};
