import { isDelivered } from '@creel/contract';
import type { LiveDelivery } from '@creel/contract';
import { pause } from '../../limits/timeouts.ts';
import type { Metrics } from '../../metrics.ts';
import type { Live } from '../live/service.ts';
import type { RefusedCapture } from './plan-queries.ts';
import { presentRecorded, presentRefusal } from './present-delivery.ts';
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
  function announce(endpointId: number, data: LiveDelivery): void {
    const deliveries: [number, number][] = [[data.index, data.delivery.id]];
    live.publishContent({ kind: 'delivered', endpointId, deliveries }, { type: 'delivery', data });
  }

  /** Live connections read the states in the order of events, so that no old state follows a newer attempt. */
  function announceStates(endpointId: number, indexes: readonly number[]): void {
    const deliveries = indexes.map((index): [number, number] => [index, 0]);
    if (deliveries.length > 0) live.publish({ kind: 'delivered', endpointId, deliveries });
  }

  return {
    /** Attempts were stored. Counts them in the metrics, too. */
    recorded(attempts: RecordedAttempts): void {
      for (const attempt of attempts) {
        if (attempt === null) continue;
        metrics.countAttempt(attempt.kind, isDelivered(attempt.status) ? 'delivered' : 'failed');
        announce(attempt.endpointId, presentRecorded(attempt));
      }
    },

    /** Captures are not forwarded. */
    refused(endpointId: number, captures: readonly RefusedCapture[]): void {
      for (const capture of captures) announce(endpointId, presentRefusal(capture));
    },

    /** Announces planned captures that still wait after a moment. Of the others, viewers see only the attempt. */
    async waiting(endpointId: number, indexes: readonly number[], signal: AbortSignal): Promise<void> {
      await pause(WAITING_MS, signal);
      if (signal.aborted || !live.mayHaveViewers(endpointId)) return;
      const waiting = await store.listDeliveryStates(endpointId, indexes).then(
        (states) => states.filter(({ plannedAt }) => plannedAt !== null).map(({ index }) => index),
        // Announces all of them: live connections read again, and get a new `init` if that fails, too.
        () => indexes,
      );
      announceStates(endpointId, waiting);
    },

    /** Deliveries ended without an attempt. */
    ended(endpointId: number, indexes: readonly number[]): void {
      announceStates(endpointId, indexes.toSorted((a, b) => b - a).slice(0, MAX_ANNOUNCED));
    },
  };
}
