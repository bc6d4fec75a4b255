import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../../http/problem.ts';
import { GatewayError } from './gateway.ts';
import type { Remote } from '../../database/remote.ts';
import type { billingQueries } from './queries.ts';

/** Longer than every gateway call under the lock. After a crash the account is free again when it ends. */
const LOCK_MS = 90_000;
const WAIT_MS = 25_000;
const LOOK_MS = 25;

/**
 * Serializes work on a billing account across processes: a claim in the database, preceded by a queue in this process.
 * Writes check the claim's owner, so a process that lost it writes nothing.
 */
export class AccountLocks {
  readonly #store: Pick<Remote<typeof billingQueries>, 'lockBillingAccount' | 'unlockBillingAccount'>;
  readonly #now: () => number;
  readonly #last = new Map<number, Promise<unknown>>();

  constructor(
    store: Pick<Remote<typeof billingQueries>, 'lockBillingAccount' | 'unlockBillingAccount'>,
    now: () => number,
  ) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * @throws GatewayError when the account stays locked for too long, ProblemError NOT_SIGNED_IN when the user does not
   * exist
   */
  async run<T>(userId: number, work: (owner: string) => Promise<T>): Promise<T> {
    const before = this.#last.get(userId) ?? Promise.resolve();
    const mine = before.then(() => this.#locked(userId, work));
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(userId, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(userId) === settled) this.#last.delete(userId);
    }
  }

  async #locked<T>(userId: number, work: (owner: string) => Promise<T>): Promise<T> {
    const owner = randomUUID();
    const giveUpAt = performance.now() + WAIT_MS;
    for (let state = await this.#claim(userId, owner); state !== 'locked'; state = await this.#claim(userId, owner)) {
      if (state === 'no-user') throw new ProblemError('NOT_SIGNED_IN');
      if (performance.now() > giveUpAt) throw new GatewayError('unavailable', 'The account is locked.');
      await sleep(LOOK_MS);
    }
    try {
      return await work(owner);
    } finally {
      await this.#store.unlockBillingAccount(userId, owner);
    }
  }

  #claim(userId: number, owner: string): Promise<'locked' | 'busy' | 'no-user'> {
    const now = this.#now();
    return this.#store.lockBillingAccount({ userId, owner, now, until: now + LOCK_MS }, randomUUID());
  }
}
