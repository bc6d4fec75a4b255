import { inTransaction, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { claimEnd, findUserBy, isClaimOver } from '../../database/records.ts';

/** A notice that is due, as JSON, with the user it is for. */
export type OutboxMail = NonNullable<Awaited<ReturnType<typeof claimMail>>>;

/** Runs in the transaction of a change, so that a notice exists exactly when its change does. */
export async function addMail(transaction: DatabaseTransaction, userId: number, notice: object): Promise<void> {
  await transaction
    .insertInto('mail_outbox')
    .values({ user_id: userId, content: JSON.stringify(notice), send_after: 0 })
    .execute();
}

/** Claims the email that is due longest for `claimMs`; after that it is due again. `undefined` when none is due. */
async function claimMail(transaction: EngineTransaction, claimMs: number) {
  const isDue = isClaimOver(transaction, 'send_after', claimMs);
  const mail = await transaction
    .updateTable('mail_outbox')
    .set({ send_after: claimEnd(transaction, claimMs) })
    .where('id', '=', (outbox) =>
      outbox.selectFrom('mail_outbox').select('id').where(isDue).orderBy('send_after').orderBy('id').limit(1),
    )
    // Checked again with the row locked, so that only one process claims it.
    .where(isDue)
    .returningAll()
    .executeTakeFirst();
  if (mail === undefined) return undefined;
  const user = await findUserBy(transaction, 'id', mail.user_id);
  return user && { id: mail.id, content: mail.content, user };
}

/** For an email that was sent, or never will be. */
async function removeMail(db: EngineDatabase, id: number): Promise<void> {
  await db.deleteFrom('mail_outbox').where('id', '=', id).execute();
}

/** Makes the email due again after `waitMs`. */
async function releaseMail(db: EngineDatabase, id: number, waitMs: number): Promise<void> {
  await db
    .updateTable('mail_outbox')
    .set({ send_after: claimEnd(db, waitMs) })
    .where('id', '=', id)
    .execute();
}

export const mailQueries = {
  claimMail: write(inTransaction(claimMail)),
  removeMail: write(removeMail),
  releaseMail: write(releaseMail),
};
