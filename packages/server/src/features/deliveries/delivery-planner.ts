import { MAX_PENDING_DELIVERIES } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { RoundRobin } from '../../limits/fair-queue.ts';
import { waitAtMost } from '../../limits/timeouts.ts';
import { CoalescedRun } from '../../workers/background.ts';
import type { Installation } from './match-queries.ts';
import type { PlanResult } from './plan-queries.ts';
import type { DeliveryQueries } from './queries.ts';

/** Captures per step. Each step is one short transaction between captures. */
const STEP_ROWS = 128;
const POLL_ENDPOINTS = 100;
/** The pause after a step, in lengths of the step, and its maximum. So planning takes a quarter of the time. */
const PAUSE_PER_STEP = 3;
const MAX_PAUSE_MS = 100;
/** Milliseconds between two steps of an endpoint, so that steady captures are planned several at a time. */
const ROUND_MS = 25;
/** The same while no destination of the endpoint could send more. Larger steps would delay captures more. */
const BEHIND_ROUND_MS = 200;
/** Milliseconds that other users wait for a step at most. Until it ends, its user has no other step. */
const MAX_STEP_MS = 200;

export interface PlannerOptions {
  readonly store: Pick<DeliveryQueries, 'unplannedEndpoints' | 'matchCaptures' | 'planCaptures'>;
  readonly installation: Installation;
  readonly now: () => number;
  readonly onPlanned: (endpointId: number, result: PlanResult) => void;
  readonly onFailure: (error: unknown) => void;
}

interface Unplanned {
  readonly endpointId: number;
  readonly userId: number;
}

/**
 * Plans deliveries without delaying captures. Each endpoint with destinations has a cursor in the database, which the
 * planner moves. After a crash, the poll finds the captures that were not planned. Users take turns.
 */
export class DeliveryPlanner {
  readonly #options: PlannerOptions;
  readonly #waiting = new RoundRobin<number, Unplanned>();
  readonly #isWaiting = new Set<number>();
  /** Endpoints whose destinations have enough to send. Captures don't wake them. */
  readonly #behind = new Set<number>();
  /** Steps by user. */
  readonly #steps = new Map<number, Promise<void>>();
  readonly #planning = new CoalescedRun(() => this.#planWaiting());
  #isStopped = false;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** The endpoint has new captures. */
  wake(endpointId: number, userId: number): void {
    if (this.#isStopped || this.#isWaiting.has(endpointId) || this.#behind.has(endpointId)) return;
    this.#isWaiting.add(endpointId);
    this.#waiting.push(userId, { endpointId, userId });
    this.#planning.start();
  }

  /** Wakes every endpoint with captures that are not planned. */
  async poll(): Promise<void> {
    for (const { id, userId } of await this.#options.store.unplannedEndpoints(POLL_ENDPOINTS)) this.wake(id, userId);
  }

  /** Plans all present captures, so that a change of destinations affects later ones only. */
  async planAll(endpointId: number, signal?: AbortSignal): Promise<void> {
    while (signal?.aborted !== true && (await this.#step(endpointId)) === 'more');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#planning.running;
    await Promise.all(this.#steps.values());
  }

  async #planWaiting(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isStopped) {
      const began = performance.now();
      for (let left = this.#waiting.size; left > 0 && !this.#isStopped; left -= 1) await this.#planNext();
      await sleep(Math.max(0, ROUND_MS - (performance.now() - began)));
    }
  }

  /** Resolves after a step, or earlier if the step takes long. */
  async #planNext(): Promise<void> {
    const next = this.#waiting.shift((_, userId) => !this.#steps.has(userId));
    if (next === undefined) return;
    this.#isWaiting.delete(next.endpointId);
    // Captures woke it during the step that found it behind.
    if (this.#behind.has(next.endpointId)) return;
    const began = performance.now();
    const step = this.#planOne(next).finally(() => this.#steps.delete(next.userId));
    this.#steps.set(next.userId, step);
    await waitAtMost(MAX_STEP_MS, step);
    await sleep(Math.min(MAX_PAUSE_MS, PAUSE_PER_STEP * (performance.now() - began)));
  }

  async #planOne({ endpointId, userId }: Unplanned): Promise<void> {
    try {
      const state = await this.#step(endpointId);
      // An endpoint with more goes to the end, after those of other users.
      if (state === 'more') this.wake(endpointId, userId);
      if (state === 'behind') this.#wakeLater(endpointId, userId);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #wakeLater(endpointId: number, userId: number): void {
    this.#behind.add(endpointId);
    const wake = (): void => {
      this.#behind.delete(endpointId);
      this.wake(endpointId, userId);
    };
    setTimeout(wake, BEHIND_ROUND_MS).unref();
  }

  /** Plans some captures. There may be more, also because another process has planned these. */
  async #step(endpointId: number): Promise<'more' | 'behind' | 'done'> {
    const { store, installation, now, onPlanned } = this.#options;
    const matched = await store.matchCaptures(endpointId, installation, { maxRows: STEP_ROWS });
    if (matched === undefined) return 'done';
    const at = { now: now(), maxPending: MAX_PENDING_DELIVERIES };
    const result = await store.planCaptures(endpointId, matched, at);
    if (result !== undefined) onPlanned(endpointId, result);
    if (result === undefined || matched.hasMore) return 'more';
    return result.isBehind ? 'behind' : 'done';
  }
}
