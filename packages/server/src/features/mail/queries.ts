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

/** Claims the mail that is due longest for `claimMs`; after that it is due again. `undefined` when none is due. */
async function claimMail(transaction: EngineTransaction, claimMs: number) {
  const due = await transaction
    .selectFrom('mail_outbox')
    .select('id')
    .where(isClaimOver(transaction, 'send_after', claimMs))
    .orderBy('send_after')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (due === undefined) return undefined;
  // Checked again with the row locked, so that only one process claims it.
  const mail = await transaction
    .updateTable('mail_outbox')
    .set({ send_after: claimEnd(transaction, claimMs) })
    .where('id', '=', due.id)
    .where(isClaimOver(transaction, 'send_after', claimMs))
    .returningAll()
    .executeTakeFirst();
  if (mail === undefined) return undefined;
  const user = await findUserBy(transaction, 'id', mail.user_id);
  return user && { id: mail.id, content: mail.content, user };
}

/** For a mail that was sent, or never will be. */
async function removeMail(db: EngineDatabase, id: number): Promise<void> {
  await db.deleteFrom('mail_outbox').where('id', '=', id).execute();
}

/** Makes the mail due again after `waitMs`. */
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
