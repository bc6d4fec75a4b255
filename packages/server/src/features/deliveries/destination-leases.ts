import { randomUUID } from 'node:crypto';
import { CoalescedRun } from '../../workers/background.ts';
import type { DeliveryQueries } from './queries.ts';

/** Destinations that a process sends to at a time. */
export const MAX_CLAIMED = 500;
/** After this time, a due destination replaces one whose deliveries only wait for their turn. */
const MIN_CLAIMED_MS = 3000;
/** A process that did not renew its leases for `LEASE_MS` counts as ended. */
const LEASE_MS = 10_000;
const RENEW_MS = 3000;
/**
 * After an outage of the database, a process claims nothing for this time. Meanwhile the others renew their leases, which
 * ended during the outage although their attempts may still be in flight.
 */
const CLAIM_DELAY_MS = 3000;
/** An idle destination is released after this time, or as soon as another one needs its slot. */
const IDLE_MS = 30_000;

/** A destination whose lease this process has. Times are milliseconds of a monotonic clock. */
export class ClaimedDestination {
  readonly id: number;
  /** Counted from before the lease was written, so that it ends here before it ends in the database. */
  leaseUntil: number;
  readonly sendDue: CoalescedRun;
  /** Ids of the deliveries that are sent or recorded now, or whose slot stays empty after a failure. */
  readonly sending = new Set<string>();
  /** Number of deliveries whose turn has come. */
  inFlight = 0;
  /** Aborts when the lease ends. Then the deliveries that wait for their turn are not sent. */
  readonly release = new AbortController();
  readonly claimedAt = performance.now();
  /** Failed attempts in a row, as of the last read. */
  failures = 0;
  /** The last read returned all due deliveries, so a free slot needs no further read. */
  hasNoMore = false;
  /** When it was last in use. */
  usedAt = performance.now();

  constructor(id: number, leaseUntil: number, sendAll: (claimed: ClaimedDestination) => Promise<void>) {
    this.id = id;
    this.leaseUntil = leaseUntil;
    this.sendDue = new CoalescedRun(() => sendAll(this));
  }

  /** True while this process may send to it. */
  get isHeld(): boolean {
    return !this.release.signal.aborted && performance.now() < this.leaseUntil;
  }
}

export interface DestinationLeasesOptions {
  readonly store: Pick<DeliveryQueries, 'claimDestinations' | 'dueDestinations' | 'releaseLeases' | 'renewLeases'>;
  readonly now: () => number;
  /** Sends the due deliveries of a destination. Never rejects. */
  readonly sendAll: (claimed: ClaimedDestination) => Promise<void>;
}

/** The destinations that this process sends to. It claims those with due deliveries, and releases unneeded ones. */
export class DestinationLeases {
  readonly #options: DestinationLeasesOptions;
  readonly #owner = randomUUID();
  readonly #claimed = new Map<number, ClaimedDestination>();
  #renewedAt = 0;
  /** When destinations may be claimed, as a monotonic time. `Infinity` after a failed poll, until one succeeds. */
  #claimsFrom = 0;

  constructor(options: DestinationLeasesOptions) {
    this.#options = options;
  }

  get(id: number): ClaimedDestination | undefined {
    return this.#claimed.get(id);
  }

  /** Renews the leases, claims destinations, and starts sending to all with due deliveries. */
  async poll(): Promise<void> {
    try {
      await this.#claimAndSend();
    } catch (error) {
      this.#claimsFrom = Infinity;
      throw error;
    }
  }

  async #claimAndSend(): Promise<void> {
    const { store, now } = this.#options;
    await this.#renew();
    const due = await store.dueDestinations(this.#owner, now(), 2 * MAX_CLAIMED);
    if (this.#claimsFrom === Infinity) this.#claimsFrom = performance.now() + CLAIM_DELAY_MS;
    const mayClaim = performance.now() >= this.#claimsFrom;
    const free = mayClaim ? due.filter((id) => !this.#claimed.has(id)) : [];
    const missing = Math.max(0, this.#claimed.size + free.length - MAX_CLAIMED);
    await this.#release(this.#replaceable(new Set(due)).slice(0, missing));
    const maxNew = MAX_CLAIMED - this.#claimed.size;
    if (free.length > 0 && maxNew > 0) {
      const until = performance.now() + LEASE_MS;
      for (const id of await store.claimDestinations(free.slice(0, maxNew), this.#owner, LEASE_MS))
        this.#claimed.set(id, new ClaimedDestination(id, until, this.#options.sendAll));
    }
    for (const id of due) this.#claimed.get(id)?.sendDue.start();
  }

  /** Ends all leases in the database. */
  async end(): Promise<void> {
    await this.#options.store.releaseLeases(this.#owner);
  }

  /** Renews the leases, drops lost ones, and releases those of idle destinations. */
  async #renew(): Promise<void> {
    const { store } = this.#options;
    const started = performance.now();
    const isNeeded = started - this.#renewedAt >= RENEW_MS || [...this.#claimed.values()].some(({ isHeld }) => !isHeld);
    if (this.#claimed.size === 0 || !isNeeded) return;
    this.#renewedAt = started;
    await this.#release(this.#idleFor(IDLE_MS));
    const until = performance.now() + LEASE_MS;
    const renewed = new Set(await store.renewLeases(this.#owner, LEASE_MS));
    for (const claimed of this.#claimed.values()) {
      if (renewed.has(claimed.id)) claimed.leaseUntil = until;
      else this.#drop(claimed);
    }
  }

  /** Destinations that were not in use for more than `idleMs`, the longest idle first. */
  #idleFor(idleMs: number): ClaimedDestination[] {
    const before = performance.now() - idleMs;
    return [...this.#claimed.values()]
      .filter(({ sending, sendDue, usedAt }) => sending.size === 0 && !sendDue.running && usedAt < before)
      .toSorted((a, b) => a.usedAt - b.usedAt);
  }

  /** Destinations that another one may replace: idle ones, then those that only wait, the newest first. */
  #replaceable(due: ReadonlySet<number>): ClaimedDestination[] {
    const before = performance.now() - MIN_CLAIMED_MS;
    const waiting = [...this.#claimed.values()].filter(
      ({ inFlight, sending, claimedAt }) => inFlight === 0 && sending.size > 0 && claimedAt < before,
    );
    return [...this.#idleFor(0).filter(({ id }) => !due.has(id)), ...waiting.toReversed()];
  }

  async #release(unneeded: readonly ClaimedDestination[]): Promise<void> {
    if (unneeded.length === 0) return;
    for (const claimed of unneeded) this.#drop(claimed);
    await this.#options.store.releaseLeases(
      this.#owner,
      unneeded.map(({ id }) => id),
    );
  }

  /** Sends no further delivery. Attempts that have begun are still recorded. */
  #drop({ id, release }: ClaimedDestination): void {
    this.#claimed.delete(id);
    release.abort();
  }
}
