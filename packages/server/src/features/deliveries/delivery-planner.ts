import { MAX_PENDING_DELIVERIES } from '@creel/contract';
import { FairQueue } from '../../limits/fair-queue.ts';
import { pause, waitAtMost } from '../../limits/timeouts.ts';
import { RunningWork } from '../../workers/background.ts';
import type { Installation } from './match-queries.ts';
import type { PlanResult } from './plan-queries.ts';
import type { DeliveryQueries } from './queries.ts';

/** Captures per step. Each step is one short transaction between captures. */
const STEP_ROWS = 128;
/** Endpoints per poll, and milliseconds between two polls. A poll reads all endpoints with destinations. */
const POLL_ENDPOINTS = 100;
const POLL_MS = 2000;
/** Steps at a time, each of another user. */
const STEPS_AT_ONCE = 4;
/** The pause after a step, in lengths of the step, and its maximum. Until it ends, no other step takes its place. */
const PAUSE_PER_STEP = 3;
const MAX_PAUSE_MS = 100;
/** Milliseconds that other users wait for a step at most. Until it ends, its user has no other step. */
const MAX_STEP_MS = 200;
/**
 * Milliseconds between the beginnings of two steps of an endpoint, by the result of the first. Steady captures are
 * planned several at a time, and more while no destination could send more. Larger steps would delay captures more.
 */
const ROUND_MS = { more: 0, done: 25, behind: 200 } as const;

export interface PlannerOptions {
  readonly store: Pick<DeliveryQueries, 'unplannedEndpoints' | 'matchCaptures' | 'planCaptures'>;
  readonly installation: Installation;
  readonly now: () => number;
  readonly onPlanned: (endpointId: number, result: PlanResult) => void;
  readonly onFailure: (error: unknown) => void;
}

type StepResult = keyof typeof ROUND_MS;

/**
 * Plans deliveries without delaying captures. Each endpoint with destinations has a cursor in the database, which the
 * planner moves. After a crash, the poll finds the captures that were not planned. Users take turns.
 */
export class DeliveryPlanner {
  readonly #options: PlannerOptions;
  /** Those whose captures are planned now, by id. `isWoken`: it has captures after those of the current step. */
  readonly #endpoints = new Map<number, { isWoken: boolean }>();
  /** A user has one step at a time, however long it takes. */
  readonly #users = new FairQueue({ concurrencyPerOwner: 1 });
  readonly #turns = new FairQueue({ concurrency: STEPS_AT_ONCE });
  readonly #planning = new RunningWork();
  readonly #end = new AbortController();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** The endpoint has new captures. */
  wake(endpointId: number, userId: number): void {
    const endpoint = this.#endpoints.get(endpointId);
    if (endpoint !== undefined) endpoint.isWoken = true;
    else if (!this.#end.signal.aborted) this.#planning.add(this.#planWhileWoken(endpointId, userId));
  }

  /** Runs until `stop`. Wakes endpoints whose captures nobody planned, because a step failed or a process ended. */
  async start(): Promise<void> {
    const { store, onFailure } = this.#options;
    while (!this.#end.signal.aborted) {
      const unplanned = await store.unplannedEndpoints(POLL_ENDPOINTS).catch(onFailure);
      for (const { id, userId } of unplanned ?? []) this.wake(id, userId);
      await pause(POLL_MS, this.#end.signal);
    }
  }

  /** Plans all present captures, so that a change of destinations affects later ones only. */
  async planAll(endpointId: number, signal?: AbortSignal): Promise<void> {
    while (signal?.aborted !== true && (await this.#step(endpointId)) === 'more');
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#planning.ended();
  }

  async #planWhileWoken(endpointId: number, userId: number): Promise<void> {
    const { signal } = this.#end;
    const endpoint = { isWoken: true };
    this.#endpoints.set(endpointId, endpoint);
    let began = 0;
    const plan = async () => {
      endpoint.isWoken = false;
      began = performance.now();
      return this.#stepInTurn(endpointId, userId);
    };
    while (endpoint.isWoken && !signal.aborted) {
      const result = await this.#users.run(userId, plan, signal).catch((error: unknown) => {
        if (!signal.aborted) this.#options.onFailure(error);
        return 'done' as const;
      });
      await pause(Math.max(0, ROUND_MS[result] - (performance.now() - began)), signal);
      endpoint.isWoken ||= result !== 'done';
    }
    this.#endpoints.delete(endpointId);
  }

  /** Resolves after the step. Its turn ends earlier if the step takes long. */
  async #stepInTurn(endpointId: number, userId: number): Promise<StepResult> {
    const { signal } = this.#end;
    const turn = async () => {
      const began = performance.now();
      const step = this.#step(endpointId);
      await waitAtMost(MAX_STEP_MS, step);
      await pause(Math.min(MAX_PAUSE_MS, PAUSE_PER_STEP * (performance.now() - began)), signal);
      return { step };
    };
    return (await this.#turns.run(userId, turn, signal)).step;
  }

  /** Plans some captures. There may be more, also because another process has planned these. */
  async #step(endpointId: number): Promise<StepResult> {
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
