import type { Live } from '../live/service.ts';
import type { Logger } from '../../log.ts';
import { ProblemError } from '../../http/problem.ts';
import type { UserRecord } from '../../database/records.ts';
import { GatewayError } from './gateway.ts';
import type { BillingGateway } from './gateway.ts';
import type { Remote } from '../../database/remote.ts';
import type { billingQueries } from './queries.ts';
import { chooseSubscription, isUndecided } from './rules.ts';
import type { SubscriptionState } from './rules.ts';
import type { accountQueries } from '../accounts/queries.ts';
import type { endpointQueries } from '../endpoints/queries.ts';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairQueue } from '../../limits/fair-queue.ts';
import { SharedReads } from '../../limits/shared-reads.ts';
import { withTimeout } from '../../limits/timeouts.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Stripe repeats an event for three days, and lists it for thirty. */
const EVENTS_KEPT_MS = 31 * DAY_MS;
const ACCOUNTS_PER_ROUND = 20;
/** Milliseconds that a page may wait for the gateway after a checkout. */
const SETTLE_MS = 5_000;
const SETTLE_AGAIN_MS = 2_000;
/** Events about these objects may mean a change of a subscription. */
const WATCHED = /^(customer|checkout\.session|invoice)\./;

type BillingStore = Remote<typeof billingQueries> &
  Pick<Remote<typeof accountQueries>, 'findUser'> &
  Pick<Remote<typeof endpointQueries>, 'listEndpoints'>;

export interface SyncOptions {
  readonly store: BillingStore;
  readonly gateway: BillingGateway;
  readonly live: Pick<Live, 'publish'>;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Synchronizes users with the gateway. After a click, an event or a background check it does the same: it reads the
 * subscription from the gateway and writes it under the account's lock. So the order, duplication or loss of events
 * does not matter.
 */
export class SubscriptionSync {
  readonly locks: AccountLocks;
  readonly #options: SyncOptions;
  /** Time of the last check of a user's checkouts. */
  readonly #settledAt = new Map<number, number>();
  /** Reads that have not started, by user. */
  readonly #waiting = new SharedReads<number, UserRecord | undefined>();

  constructor(options: SyncOptions) {
    this.#options = options;
    this.locks = new AccountLocks(options.store);
  }

  /** Records a signed event once, then reads the account again. @throws ProblemError INVALID_SIGNATURE */
  async receive(body: Buffer, signature: string | undefined): Promise<void> {
    const { store, gateway, now } = this.#options;
    const event = gateway.readEvent(body, signature);
    if (event === undefined) throw new ProblemError('INVALID_SIGNATURE');
    if (event === 'foreign' || event.customerId === null || !WATCHED.test(event.type)) return;
    const user = await store.findUserByCustomer(event.customerId);
    if (user === undefined) return;
    if (await store.recordEvent({ id: event.id, type: event.type, receivedAt: now() })) return;
    await this.refresh(user.id);
    await store.finishEvent(event.id, now());
  }

  /** Reads a subscription and writes it. Calls that wait for the same account share one read. */
  refresh(userId: number): Promise<UserRecord | undefined> {
    return this.#waiting.run(userId, () => this.#refresh(userId));
  }

  async #refresh(userId: number): Promise<UserRecord | undefined> {
    const { store } = this.#options;
    return this.locks.run(userId, async (owner) => {
      // This read may miss later changes, so a later call starts another one.
      this.#waiting.forget(userId);
      const user = await store.findUser(userId);
      const customerId = user?.stripeCustomerId ?? null;
      if (user === undefined || customerId === null) return user;
      await this.#settleCheckouts(userId, customerId);
      return (await this.synchronize(userId, customerId, owner)).user;
    });
  }

  /** Reads the gateway's state if a checkout is open, so that the return page does not wait for its event. */
  async afterCheckout(user: UserRecord): Promise<UserRecord> {
    const { store, now, log } = this.#options;
    const last = this.#settledAt.get(user.id);
    // A time in the future is from before the clock was set back.
    if (last !== undefined && Math.abs(now() - last) < SETTLE_AGAIN_MS) return user;
    if ((await store.listCheckouts(user.id)).length === 0) {
      this.#settledAt.delete(user.id);
      return user;
    }
    this.#settledAt.set(user.id, now());
    try {
      return (await withTimeout(SETTLE_MS, this.refresh(user.id), tooLong)) ?? user;
    } catch (error) {
      log.warn({ err: error }, 'a checkout could not be settled yet');
      return user;
    }
  }

  /** Reads accounts that are due. Finds changes whose events were lost, even after downtime. True when more are due. */
  async reconcile(signal: AbortSignal): Promise<boolean> {
    const { store, now, log } = this.#options;
    await store.forgetEvents(now() - EVENTS_KEPT_MS);
    for (let count = 0; count < ACCOUNTS_PER_ROUND && !signal.aborted; count++) {
      // Claimed before the attempt, so that one failing account does not block the others.
      const userId = await store.claimDueAccount(now(), now() + MINUTE_MS);
      if (userId === undefined) return false;
      await this.refresh(userId).catch((error: unknown) =>
        log.warn({ err: error, userId }, 'a subscription could not be read'),
      );
    }
    return true;
  }

  /** Reads the effective subscription, cancels any other, and writes the result. `owner` holds the account's lock. */
  async synchronize(userId: number, customerId: string, owner: string) {
    const { store, live, now } = this.#options;
    const user = await store.findUser(userId);
    if (user === undefined) throw new ProblemError('NOT_SIGNED_IN');
    const states = await this.#options.gateway.listSubscriptions(customerId, user);
    const { current, extra } = chooseSubscription(states, user.stripeSubscriptionId);
    for (const { id } of extra) {
      this.#options.log.warn({ userId, subscription: id }, 'canceling a second subscription');
      await this.#options.gateway.cancelNow(customerId, id);
    }
    const checkouts = await store.listCheckouts(userId);
    const nextCheckAt = checkouts.length > 0 ? now() + MINUTE_MS : this.#nextCheckAt(current, states);
    const applied = await store.applySubscription(userId, owner, current, { now: now(), nextCheckAt });
    if (applied === undefined) throw new ProblemError('NOT_SIGNED_IN');
    if (applied === 'lost') throw new GatewayError('unavailable', 'Another process has taken over this account.');
    for (const endpointId of applied.deleted) live.publish({ kind: 'gone', endpointId });
    for (const endpointId of applied.changed) live.publish({ kind: 'changed', endpointId });
    return { user: applied.user, current };
  }

  /** A customer without a subscription may get one without a checkout of ours, and its events may be lost. */
  #nextCheckAt(current: SubscriptionState | undefined, states: readonly SubscriptionState[]): number {
    const now = this.#options.now();
    const { recheckMs } = this.#options.gateway;
    if (current === undefined) return now + (states.some(isUndecided) ? recheckMs : DAY_MS);
    return Math.min(now + recheckMs, Math.max(current.periodEndAt, now + MINUTE_MS));
  }

  /** Closes every open checkout, so that none can be paid. */
  async closeCheckouts(userId: number, customerId: string): Promise<void> {
    const { store } = this.#options;
    const checkouts = await store.listCheckouts(userId);
    for (const { sessionId } of checkouts)
      if (sessionId !== null) await this.#options.gateway.expireCheckout(customerId, sessionId);
    await store.removeCheckouts(checkouts.map(({ id }) => id));
  }

  /** Deletes checkouts that are paid or expired; a payment is already in the list of subscriptions. */
  async #settleCheckouts(userId: number, customerId: string): Promise<void> {
    const { store } = this.#options;
    const settled: string[] = [];
    for (const { id, sessionId } of await store.listCheckouts(userId))
      if (sessionId === null || !(await this.#options.gateway.isCheckoutOpen(customerId, sessionId))) settled.push(id);
    await store.removeCheckouts(settled);
  }
}

/** The work continues, and its effect is read from the gateway later. */
export function tooLong(): GatewayError {
  return new GatewayError('unavailable', 'The payment service took too long.');
}

/** A process that did not renew its claim for `LOCK_MS` counts as ended. */
const LOCK_MS = 10_000;
const RENEW_MS = 3000;
const WAIT_MS = 25_000;
const RETRY_MS = 25;

type LockQueries = Pick<
  Remote<typeof billingQueries>,
  'lockBillingAccount' | 'renewBillingLock' | 'unlockBillingAccount'
>;

/**
 * Serializes work on a billing account across processes: a claim in the database, preceded by a queue in this process.
 * Writes check the claim's owner, so a process that lost it writes nothing.
 */
class AccountLocks {
  readonly #store: LockQueries;
  readonly #queue = new FairQueue({ concurrencyPerOwner: 1 });

  constructor(store: LockQueries) {
    this.#store = store;
  }

  /** @throws GatewayError when the account stays locked for too long; ProblemError NOT_SIGNED_IN without a user */
  run<T>(userId: number, work: (owner: string) => Promise<T>): Promise<T> {
    return this.#queue.run(userId, () => this.#locked(userId, work));
  }

  async #locked<T>(userId: number, work: (owner: string) => Promise<T>): Promise<T> {
    const owner = randomUUID();
    const giveUpAt = performance.now() + WAIT_MS;
    for (let state = await this.#claim(userId, owner); state !== 'locked'; state = await this.#claim(userId, owner)) {
      if (state === 'no-user') throw new ProblemError('NOT_SIGNED_IN');
      if (performance.now() > giveUpAt) throw new GatewayError('unavailable', 'The account is locked.');
      await sleep(RETRY_MS);
    }
    // A renewal that fails is repeated by the next one.
    const renew = () => this.#store.renewBillingLock(userId, owner, LOCK_MS).catch(() => undefined);
    const renewal = setInterval(() => void renew(), RENEW_MS).unref();
    try {
      return await work(owner);
    } finally {
      clearInterval(renewal);
      await this.#store.unlockBillingAccount(userId, owner);
    }
  }

  #claim(userId: number, owner: string): Promise<'locked' | 'busy' | 'no-user'> {
    return this.#store.lockBillingAccount({ userId, owner, claimMs: LOCK_MS }, randomUUID());
  }
}
