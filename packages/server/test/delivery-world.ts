import type { DestinationCreate } from '@creel/contract';
import type { CaptureLimits } from '../src/database/store.ts';
import type { EndpointRecord } from '../src/database/records.ts';
import type { AppStore } from '../src/queries.ts';
import type { Attempt } from '../src/features/deliveries/attempt-queries.ts';
import { markOf } from '../src/features/deliveries/delivery-rules.ts';
import type { DestinationWithPending } from '../src/features/deliveries/destination-queries.ts';
import type { PlanResult } from '../src/features/deliveries/plan-queries.ts';
import { deliveryAttempt } from './delivery-attempt.ts';
import { T0, captureMany, everything, indexesOf, someEndpoint } from './store-world.ts';

export const INSTALLATION = { mark: markOf('test'), secret: 'test' };
export const LIMITS: CaptureLimits = { maxUnsaved: 3, maxSaved: 100 };

/** Actions of the suites of deliveries in a store. */
export function deliveryWorld(store: AppStore) {
  const add = async (
    endpoint: EndpointRecord,
    fields: Partial<DestinationCreate> = {},
  ): Promise<DestinationWithPending> => {
    const all = { url: 'http://127.0.0.1:9/', appendPath: false, enabled: true, query: '', sign: false, ...fields };
    const created = await store.createDestination(endpoint.id, all, { now: T0, limit: 5 });
    if (created === undefined || created === 'limit') throw new Error(`Not created: ${created}`);
    return created;
  };
  /** Plans a few captures. `undefined` when all are planned. */
  const planStep = async (endpointId: number, now: number, maxPending = 10_000) => {
    const matched = await store.matchCaptures(endpointId, INSTALLATION, { maxRows: 4 });
    return matched && { result: await store.planCaptures(endpointId, matched, { now, maxPending }) };
  };
  /** Plans everything. */
  const plan = async (endpointId: number, maxPending?: number): Promise<PlanResult[]> => {
    const results: PlanResult[] = [];
    for (;;) {
      const step = await planStep(endpointId, T0, maxPending);
      if (step === undefined) return results;
      if (step.result !== undefined) results.push(step.result);
    }
  };
  const due = async (destinationId: number, now = T0 + 1000, sending: string[] = []) =>
    (await store.dueDeliveries(destinationId, sending, { now, limit: 100 }))?.deliveries ?? [];
  /** An endpoint with captures that are due for its destination, and the first of them. */
  const dueDelivery = async (captures = 1) => {
    const endpoint = await someEndpoint(store);
    const destination = await add(endpoint);
    await captureMany(store, endpoint.id, captures);
    await plan(endpoint.id);
    const [delivery] = await due(destination.id);
    if (delivery === undefined) throw new Error('Nothing is due.');
    return { endpoint, destination, delivery };
  };
  const attemptOf = (
    { id, endpointId }: DestinationWithPending,
    delivery: { id: string; index: number; attempts: number },
    result: Partial<Attempt> = {},
  ): Attempt =>
    deliveryAttempt({
      endpointId,
      index: delivery.index,
      deliveryId: delivery.id,
      destinationId: id,
      attempt: delivery.attempts + 1,
      at: T0,
      ...result,
    });
  const record = (attempts: readonly Attempt[], now = T0) => store.recordAttempts(attempts, now);
  const stored = async (endpointId: number): Promise<number[]> => indexesOf(await everything(store, endpointId));
  return { add, plan, planStep, due, dueDelivery, attemptOf, record, stored };
}
