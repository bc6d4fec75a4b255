import { isDelivered } from '@creel/contract';
import { FairQueue } from '../../limits/fair-queue.ts';
import { waitAtMost, pause } from '../../limits/timeouts.ts';
import { CoalescedRun, RunningWork } from '../../workers/background.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import type { AttemptOptions } from './attempt-delivery.ts';
import type { DueDelivery, ActiveDestination } from './attempt-queries.ts';
import { AttemptRecorder } from './attempt-recorder.ts';
import type { RecorderOptions } from './attempt-recorder.ts';
import { CLOCK_ERROR_MS, MAX_WAITS_MS } from './delivery-rules.ts';
import { DestinationLeases, MAX_CLAIMED } from './destination-leases.ts';
import type { ClaimedDestination, DestinationLeasesOptions } from './destination-leases.ts';
import type { DeliveryQueries } from './queries.ts';

/** Deliveries of one destination at a time, and fewer while it is failing, so that dead targets hold few connections. */
const MAX_SENDING = 10;
const MAX_SENDING_WHEN_FAILING = 2;
/** Failed attempts in a row after which a destination is failing. */
const FAILING_AFTER = 5;
/**
 * Milliseconds that a failing destination's slot stays empty after a failure. Without this, a target that refuses at
 * once gets an attempt every few milliseconds, and each costs reads and a transaction.
 */
const FAILURE_PAUSE_MS = 400;
/** Maximum number of deliveries with small bodies at a time, and MiB of the larger bodies. They limit the memory. */
const SMALL_BYTES = 256 * 1024;
const SMALL_AT_ONCE = 256;
const LARGE_MIB_AT_ONCE = 100;
const MIB = 1024 * 1024;
const POLL_MS = 500;
/** Maximum destinations in a notice. Others wait for the poll of the process with their lease. */
const MAX_IN_NOTICE = 500;

type SenderQueries = DestinationLeasesOptions['store'] &
  Pick<DeliveryQueries, 'dueDeliveries' | 'recordAttempts' | 'correctDueAt' | 'shortenWaits'>;

export interface SenderOptions extends AttemptOptions, Omit<RecorderOptions, 'store' | 'signal'> {
  readonly store: AttemptOptions['store'] & SenderQueries & { readonly shared: boolean };
  /** These destinations have due deliveries, and another process may have their leases. */
  readonly onHeldElsewhere: (destinationIds: readonly number[]) => void;
}

/**
 * Sends due deliveries. Only the process with the lease of a destination sends to it, so first attempts are sent in the
 * order of capture. If that process dies, its leases expire, and another one repeats its unfinished sends. Only the ids
 * of waiting deliveries are in memory; a body is read when its turn comes.
 */
export class DeliverySender {
  readonly #options: SenderOptions;
  readonly #leases: DestinationLeases;
  readonly #small = queueOf(SMALL_AT_ONCE);
  readonly #large = queueOf(LARGE_MIB_AT_ONCE);
  readonly #recorder: AttemptRecorder;
  readonly #end = new AbortController();
  readonly #attempts = new RunningWork();
  #isStopping = false;
  /** Destinations to look for in the next poll. */
  #wanted = new Set<number>();
  readonly #polling: CoalescedRun;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { store, now, onRecorded, onFailure } = options;
    const sendAll = (claimed: ClaimedDestination): Promise<void> => this.#sendAll(claimed).catch(onFailure);
    this.#leases = new DestinationLeases({ store, now, sendAll });
    this.#polling = new CoalescedRun(async () => (this.#isStopping ? undefined : this.#poll().catch(onFailure)));
    this.#recorder = new AttemptRecorder({ store, now, onRecorded, onFailure, signal: this.#end.signal });
  }

  /** Runs until `stop`. Without other processes, all leases are those of dead ones. */
  async start(): Promise<void> {
    const { store, now, onFailure } = this.#options;
    if (!store.shared) await store.releaseLeases().catch(onFailure);
    // The clock may have been set back while no process ran.
    await store.shortenWaits(now(), MAX_WAITS_MS).catch(onFailure);
    // Milliseconds by which the machine's clock is ahead of a monotonic one. They decrease when it is set back.
    const aheadMs = (): number => Math.round(now() - performance.now());
    let before = aheadMs();
    while (!this.#isStopping) {
      const ahead = aheadMs();
      if (before - ahead > CLOCK_ERROR_MS) await store.shortenWaits(now(), MAX_WAITS_MS).catch(onFailure);
      before = ahead;
      this.wake();
      await pause(POLL_MS, this.#end.signal);
    }
  }

  /** Looks for due deliveries now: of the given destinations, and of others. */
  wake(destinationIds: readonly number[] = []): void {
    this.wakeHeld(destinationIds);
    const notHeld = destinationIds.filter((id) => this.#leases.get(id) === undefined);
    for (const id of notHeld) this.#wanted.add(id);
    if (destinationIds.length === 0 || notHeld.length > 0) this.#polling.start();
  }

  /** Sends due deliveries now to those of the destinations whose lease this process has. */
  wakeHeld(destinationIds: readonly number[]): void {
    for (const id of destinationIds) this.#leases.get(id)?.sendDue.start();
  }

  async #poll(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = new Set();
    await this.#leases.poll();
    const elsewhere = [...wanted].filter((id) => this.#leases.get(id) === undefined);
    if (elsewhere.length > 0) this.#options.onHeldElsewhere(elsewhere.slice(0, MAX_IN_NOTICE));
  }

  /** Waits for running attempts, at most `maxMs`. Those that are not finished then are repeated after the next start. */
  async stop(maxMs: number): Promise<void> {
    this.#isStopping = true;
    await waitAtMost(maxMs, this.#attempts.ended());
    this.#end.abort();
    await Promise.all([this.#attempts.ended(), this.#polling.running]);
    await this.#leases.end().catch(() => undefined);
  }

  async #sendAll(claimed: ClaimedDestination): Promise<void> {
    claimed.hasNoMore = false;
    while (await this.#sendSome(claimed)) claimed.usedAt = performance.now();
  }

  /** Starts the next deliveries in order. False when none is due, or too many are being sent. */
  async #sendSome(claimed: ClaimedDestination): Promise<boolean> {
    const { store, now } = this.#options;
    const limit = (claimed.failures >= FAILING_AFTER ? MAX_SENDING_WHEN_FAILING : MAX_SENDING) - claimed.sending.size;
    if (limit <= 0 || this.#isStopping || !claimed.isHeld) return false;
    const due = await store.dueDeliveries(claimed.id, [...claimed.sending], { now: now(), limit });
    claimed.hasNoMore = (due?.deliveries.length ?? 0) < limit;
    if (due === undefined) return false;
    if (due.deliveries.length === 0) {
      if (claimed.sending.size === 0 && (due.destination.dueAt ?? Infinity) <= now())
        await store.correctDueAt(claimed.id);
      return false;
    }
    claimed.failures = due.destination.failures;
    for (const delivery of due.deliveries) {
      if (this.#isStopping || !claimed.isHeld) return false;
      claimed.sending.add(delivery.id);
      await this.#begin(claimed, due.destination, delivery);
    }
    return !claimed.hasNoMore;
  }

  /** Resolves when the request is sent, or will not be sent. */
  #begin(claimed: ClaimedDestination, destination: ActiveDestination, delivery: DueDelivery): Promise<void> {
    const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>();
    const leave = (): void => {
      claimed.usedAt = performance.now();
      claimed.sending.delete(delivery.id);
      if (!claimed.hasNoMore) claimed.sendDue.start();
    };
    const attempt = async (): Promise<void> => {
      const hasFailed = await this.#attempt(claimed, destination, delivery, onBegun);
      onBegun();
      if (hasFailed && claimed.failures >= FAILING_AFTER) setTimeout(leave, FAILURE_PAUSE_MS).unref();
      else leave();
    };
    this.#attempts.add(attempt());
    return begun;
  }

  /** Sends a delivery and records the attempt. True if it was recorded and has failed. */
  async #attempt(
    claimed: ClaimedDestination,
    destination: ActiveDestination,
    delivery: DueDelivery,
    onBegun: () => void,
  ): Promise<boolean> {
    const { signal } = this.#end;
    const isSmall = delivery.size <= SMALL_BYTES;
    const queue = isSmall ? this.#small : this.#large;
    // A body that is larger than all slots is sent alone.
    const slots = isSmall ? 1 : Math.min(LARGE_MIB_AT_ONCE, Math.ceil(delivery.size / MIB));
    const waits = AbortSignal.any([signal, claimed.release.signal]);
    let hasTurn = false;
    const send = async () => {
      // It was released at the moment when its turn came, or the lease expired while this process was frozen.
      if (signal.aborted || !claimed.isHeld) return undefined;
      hasTurn = true;
      claimed.inFlight += 1;
      return attemptDelivery(this.#options, delivery, { signal, onBegun });
    };
    try {
      const attempt = await queue.run(destination.userId, send, waits, slots);
      if (attempt === undefined) return false;
      await this.#recorder.record(attempt);
      return !isDelivered(attempt.status);
    } catch (error) {
      if (!waits.aborted) this.#options.onFailure(error);
      return false;
    } finally {
      if (hasTurn) claimed.inFlight -= 1;
    }
  }
}

/** A user gets at most this part of the slots that the others don't use: a target that hangs keeps one for 30 s. */
const SHARE_OF_FREE = 1 / 5;

function queueOf(concurrency: number): FairQueue {
  return new FairQueue({ concurrency, shareOfFree: SHARE_OF_FREE, maxWaiting: MAX_CLAIMED });
}
