import type { SigningScheme } from '@creel/contract';
import { read, write } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';

/** Returns the sealed secret of an endpoint, or `undefined` if it has none. */
async function findSigningSecret(db: EngineDatabase, endpointId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('signing_secrets')
    .select('sealed')
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
  return row?.sealed;
}

/** Sets or replaces the scheme and the sealed secret of an endpoint. Returns false if the endpoint does not exist. */
async function setSigningSecret(
  db: EngineDatabase,
  endpointId: number,
  scheme: SigningScheme,
  sealed: string,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
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
  });
}

/** Deletes the scheme and the secret of an endpoint, if it has them. */
async function deleteSigningSecret(db: EngineDatabase, endpointId: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    // First, as in `setSigningSecret`: the lock of the endpoint's row keeps scheme and secret together.
    await transaction.updateTable('endpoints').set({ signing_scheme: null }).where('id', '=', endpointId).execute();
    await transaction.deleteFrom('signing_secrets').where('endpoint_id', '=', endpointId).execute();
  });
}

export const signatureQueries = {
  findSigningSecret: read(findSigningSecret),
  setSigningSecret: write(setSigningSecret),
  deleteSigningSecret: write(deleteSigningSecret),
};
