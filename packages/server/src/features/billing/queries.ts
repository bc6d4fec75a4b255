import { sql } from 'kysely';
import { inTransaction, read, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';
import { claimEnd, findUserBy, isClaimOver, keepFirstValue } from '../../database/records.ts';
import { applyQueries } from './apply-queries.ts';

/** Claims the account for one process for `claimMs`, unless another one has it. Creates the row on the first call. */
async function lockBillingAccount(
  db: EngineDatabase,
  lock: { readonly userId: number; readonly owner: string; readonly claimMs: number },
  customerKey: string,
): Promise<'locked' | 'busy' | 'no-user'> {
  await db
    .insertInto('billing_accounts')
    .columns(['user_id', 'customer_key'])
    .expression((select) =>
      select
        .selectFrom('users')
        .select(['id', sql.val(customerKey).$castTo<string>().as('key')])
        .where('id', '=', lock.userId),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const result = await db
    .updateTable('billing_accounts')
    .set({ lock_owner: lock.owner, locked_until: claimEnd(db, lock.claimMs) })
    .where('user_id', '=', lock.userId)
    .where((where) => where.or([where('lock_owner', 'is', null), isClaimOver(db, 'locked_until', lock.claimMs)]))
    .executeTakeFirst();
  if (result.numUpdatedRows > 0n) return 'locked';
  const row = await db
    .selectFrom('billing_accounts')
    .select('user_id')
    .where('user_id', '=', lock.userId)
    .executeTakeFirst();
  return row === undefined ? 'no-user' : 'busy';
}

/** Prolongs a claim to `claimMs` from now. Does nothing for a process that lost it, so that its late writes stay rejected. */
async function renewBillingLock(db: EngineDatabase, userId: number, owner: string, claimMs: number): Promise<void> {
  await db
    .updateTable('billing_accounts')
    .set({ locked_until: claimEnd(db, claimMs) })
    .where('user_id', '=', userId)
    .where('lock_owner', '=', owner)
    .execute();
}

async function findBillingAccount(db: EngineDatabase, userId: number) {
  return db
    .selectFrom('billing_accounts')
    .select(['customer_key', 'period_end_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Checkouts that are neither settled nor expired. `sessionId` is null if a crash prevented storing it. */
async function listCheckouts(db: EngineDatabase, userId: number) {
  return db
    .selectFrom('billing_checkouts')
    .select(['id', 'session_id as sessionId'])
    .where('user_id', '=', userId)
    .execute();
}

async function findBillingSetting(db: EngineDatabase, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('billing_settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

async function findTestCustomer(db: EngineDatabase, customerId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('test_gateway_customers')
    .select('state')
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  return row?.state;
}

async function unlockBillingAccount(db: EngineDatabase, userId: number, owner: string): Promise<void> {
  await db
    .updateTable('billing_accounts')
    .set({ lock_owner: null })
    .where('user_id', '=', userId)
    .where('lock_owner', '=', owner)
    .execute();
}

async function scheduleBillingCheck(db: EngineDatabase, userId: number, nextCheckAt: number): Promise<void> {
  await db.updateTable('billing_accounts').set({ next_check_at: nextCheckAt }).where('user_id', '=', userId).execute();
}

/**
 * Schedules the next check of the account whose check is due longest, whether or not the due one succeeds. Returns its
 * user. Of several processes, each claims another account. `undefined` when none is due.
 */
async function claimDueAccount(db: EngineDatabase, now: number, nextCheckAt: number): Promise<number | undefined> {
  const due = db.selectFrom('billing_accounts').select('user_id').where('next_check_at', '<=', now);
  const row = await db
    .updateTable('billing_accounts')
    .set({ next_check_at: nextCheckAt })
    .where('user_id', '=', due.orderBy('next_check_at').limit(1).modifyEnd(db.engine.locks.claim))
    .returning('user_id')
    .executeTakeFirst();
  return row?.user_id;
}

async function setCustomer(db: EngineDatabase, userId: number, customerId: string): Promise<void> {
  await db.updateTable('users').set({ stripe_customer_id: customerId }).where('id', '=', userId).execute();
}

/** After the customer was deleted at the provider. The next one is created with a new idempotency key. */
async function forgetCustomer(transaction: EngineTransaction, userId: number, customerKey: string): Promise<void> {
  await transaction
    .updateTable('billing_accounts')
    .set({ customer_key: customerKey })
    .where('user_id', '=', userId)
    .execute();
  await transaction.updateTable('users').set({ stripe_customer_id: null }).where('id', '=', userId).execute();
}

async function addCheckout(db: EngineDatabase, id: string, userId: number, createdAt: number): Promise<void> {
  await db.insertInto('billing_checkouts').values({ id, user_id: userId, created_at: createdAt }).execute();
}

async function setCheckoutSession(db: EngineDatabase, id: string, sessionId: string): Promise<void> {
  await db.updateTable('billing_checkouts').set({ session_id: sessionId }).where('id', '=', id).execute();
}

async function removeCheckouts(db: EngineDatabase, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('billing_checkouts').where('id', 'in', ids).execute();
}

/** Records an event; true when its effect is already stored. */
async function recordEvent(
  db: EngineDatabase,
  event: { readonly id: string; readonly type: string; readonly receivedAt: number },
): Promise<boolean> {
  const row = await db
    .insertInto('billing_events')
    .values({ id: event.id, type: event.type, received_at: event.receivedAt })
    // Changes nothing, and returns the stored row.
    .onConflict((conflict) => conflict.column('id').doUpdateSet((set) => ({ id: set.ref('excluded.id') })))
    .returning('done_at')
    .executeTakeFirstOrThrow();
  return row.done_at !== null;
}

async function finishEvent(db: EngineDatabase, id: string, now: number): Promise<void> {
  await db.updateTable('billing_events').set({ done_at: now }).where('id', '=', id).execute();
}

async function forgetEvents(db: EngineDatabase, receivedBefore: number): Promise<void> {
  await db.deleteFrom('billing_events').where('received_at', '<', receivedBefore).execute();
}

/** Stores the first value for a name, unless `replaces` is the stored one. Returns the stored value. */
async function keepBillingSetting(db: EngineDatabase, name: string, value: string, replaces?: string): Promise<string> {
  if (replaces !== undefined)
    await db.deleteFrom('billing_settings').where('name', '=', name).where('value', '=', replaces).execute();
  return keepFirstValue(db, 'billing_settings', name, value);
}

/** Keeps an existing customer unchanged. */
async function addTestCustomer(db: EngineDatabase, customerId: string, state: string, userId: number): Promise<void> {
  await db
    .insertInto('test_gateway_customers')
    .values({ customer_id: customerId, user_id: userId, state })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function saveTestCustomer(db: EngineDatabase, customerId: string, state: string): Promise<void> {
  await db.updateTable('test_gateway_customers').set({ state }).where('customer_id', '=', customerId).execute();
}

export const billingQueries = {
  ...applyQueries,
  findUserByCustomer: read((db: EngineDatabase, id: string) => findUserBy(db, 'stripe_customer_id', id)),
  findBillingAccount: read(findBillingAccount),
  listCheckouts: read(listCheckouts),
  findBillingSetting: read(findBillingSetting),
  findTestCustomer: read(findTestCustomer),
  lockBillingAccount: write(lockBillingAccount),
  renewBillingLock: write(renewBillingLock),
  unlockBillingAccount: write(unlockBillingAccount),
  scheduleBillingCheck: write(scheduleBillingCheck),
  claimDueAccount: write(claimDueAccount),
  setCustomer: write(setCustomer),
  forgetCustomer: write(inTransaction(forgetCustomer)),
  addCheckout: write(addCheckout),
  setCheckoutSession: write(setCheckoutSession),
  removeCheckouts: write(removeCheckouts),
  recordEvent: write(recordEvent),
  finishEvent: write(finishEvent),
  forgetEvents: write(forgetEvents),
  keepBillingSetting: write(keepBillingSetting),
  addTestCustomer: write(addTestCustomer),
  saveTestCustomer: write(saveTestCustomer),
};
