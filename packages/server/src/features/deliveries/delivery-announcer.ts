import { isDelivered } from '@creel/contract';
import { pause } from '../../limits/timeouts.ts';
import type { Metrics } from '../../metrics.ts';
import type { Live } from '../live/service.ts';
import type { DeliveryState } from './outcome-queries.ts';
import type { RefusedCapture } from './plan-queries.ts';
import { presentRecorded, presentRefusal, presentState } from './present-delivery.ts';
import type { DeliveryQueries } from './queries.ts';
import type { RecordedAttempts } from './record-queries.ts';

/** Milliseconds after planning, until a capture that was not sent is shown as waiting. */
const WAITING_MS = 500;
/** Maximum number of ended deliveries that are sent to viewers. Rows of older requests are correct after the next load. */
const MAX_ANNOUNCED = 1000;

export interface AnnouncerOptions {
  readonly store: Pick<DeliveryQueries, 'listDeliveryStates'>;
  readonly live: Live;
  readonly metrics: Pick<Metrics, 'countAttempt'>;
}

/** Sends the states of deliveries to the viewers of an endpoint. */
export function createAnnouncer({ store, live, metrics }: AnnouncerOptions) {
  async function announceStates(
    endpointId: number,
    indexes: readonly number[],
    isAnnounced: (state: DeliveryState) => boolean,
  ): Promise<void> {
    if (!live.mayHaveViewers(endpointId)) return;
    const readStates = async (of: readonly number[]): Promise<readonly DeliveryState[]> =>
      (await store.listDeliveryStates(endpointId, of)).filter(isAnnounced);
    const announced = await readStates(indexes).then(
      (states) => states.map(({ index }) => index),
      // Announces all of them: live connections read again, and get a new `init` if that fails, too.
      () => indexes,
    );
    if (announced.length > 0)
      live.publishStates(endpointId, announced, async () => (await readStates(announced)).map(presentState));
  }
  return {
    /** Attempts were stored. Counts them in the metrics, too. */
    recorded(attempts: RecordedAttempts): void {
      for (const attempt of attempts) {
        if (attempt === null) continue;
        metrics.countAttempt(attempt.kind, isDelivered(attempt.status) ? 'delivered' : 'failed');
        live.publish(attempt.endpointId, { type: 'delivery', data: presentRecorded(attempt) });
      }
    },

    /** Captures are not forwarded. */
    refused(endpointId: number, captures: readonly RefusedCapture[]): void {
      for (const capture of captures) live.publish(endpointId, { type: 'delivery', data: presentRefusal(capture) });
    },

    /** Announces planned captures that still wait after a moment. Of the others, viewers see only the attempt. */
    async waiting(endpointId: number, indexes: readonly number[], signal: AbortSignal): Promise<void> {
      await pause(WAITING_MS, signal);
      if (!signal.aborted) await announceStates(endpointId, indexes, ({ plannedAt }) => plannedAt !== null);
    },

    /** Deliveries ended without an attempt. */
    async ended(endpointId: number, indexes: readonly number[]): Promise<void> {
      const newest = indexes.toSorted((a, b) => b - a).slice(0, MAX_ANNOUNCED);
      await announceStates(endpointId, newest, () => true);
    },
  };
}
