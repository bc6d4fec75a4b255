import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { makeDice } from '../../../../../fixtures/dice.ts';
import type { Dice } from '../../../../../fixtures/dice.ts';
import { deliveryAttempt } from '../../../test/delivery-attempt.ts';
import { LIMITS, deliveryWorld } from '../../../test/delivery-world.ts';
import { T0, capture, everything, expectCounted, someEndpoint } from '../../../test/store-world.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { AppStore } from '../../queries.ts';
import type { Attempt } from './attempt-queries.ts';

/** `DELIVERY_STEPS=5000 DELIVERY_SEED=7` takes more steps. */
const STEPS = Number(process.env['DELIVERY_STEPS'] ?? 200);
const SEED = Number(process.env['DELIVERY_SEED'] ?? 1);
/** Later than every time of a delivery. */
const LATER = T0 + 1_000_000_000;
const METHODS = ['GET', 'POST'];

interface ModelRow {
  readonly index: number;
  readonly method: string;
  isSaved: boolean;
}

interface ModelDestination {
  readonly id: number;
  readonly query: string;
  isEnabled: boolean;
  fromIndex: number;
}

interface ModelDelivery {
  readonly destinationId: number;
  readonly index: number;
}

/** An endpoint as the rules of docs/operations.md and docs/api.md describe it. */
class ModelEndpoint {
  rows: ModelRow[] = [];
  destinations: ModelDestination[] = [];
  pending: ModelDelivery[] = [];
  nextIndex = 0;
  captured = 0;
  dropped = 0;
  /** Unsaved requests below this index stay only for their deliveries. */
  trimmedTo = 0;
  plannedTo: number | null = null;

  capture(method: string): void {
    this.rows.push({ index: this.nextIndex++, method, isSaved: false });
    this.captured += 1;
  }

  trim(): void {
    const counted = this.rows.filter(({ isSaved, index }) => !isSaved && index >= this.trimmedTo);
    const last = counted.at(-LIMITS.maxUnsaved - 1);
    if (last !== undefined) this.trimmedTo = last.index + 1;
  }

  plan(maxPending: number): void {
    const from = this.plannedTo;
    if (from === null) return;
    this.plannedTo = this.nextIndex;
    for (const { index, method } of this.rows.filter((row) => row.index >= from)) {
      const wanted = this.destinations.filter(
        ({ isEnabled, fromIndex, query }) =>
          isEnabled && fromIndex <= index && (query === '' || query === `method:${method}`),
      );
      if (this.pending.length + wanted.length <= maxPending)
        this.pending.push(...wanted.map(({ id }) => ({ destinationId: id, index })));
    }
  }

  isPending(index: number): boolean {
    return this.pending.some((delivery) => delivery.index === index);
  }

  /** Drops what nothing needs any more. */
  settle(): void {
    const isNeeded = ({ index, isSaved }: ModelRow): boolean =>
      isSaved || index >= Math.min(this.trimmedTo, this.plannedTo ?? Infinity) || this.isPending(index);
    const kept = this.rows.filter(isNeeded);
    this.dropped += this.rows.length - kept.length;
    this.rows = kept;
  }
}

/** Random operations with deliveries, and a simple model of their effect. */
class RandomDeliveries {
  readonly #store: AppStore;
  readonly #world: ReturnType<typeof deliveryWorld>;
  readonly #dice: Dice;
  readonly #endpoints: (readonly [EndpointRecord, ModelEndpoint])[] = [];
  #time = T0;
  #replays = 0;

  constructor(store: AppStore, seed: number) {
    this.#store = store;
    this.#world = deliveryWorld(store);
    this.#dice = makeDice(seed);
  }

  async run(steps: number): Promise<true> {
    for (let nth = 0; nth < 2; nth += 1) this.#endpoints.push([await someEndpoint(this.#store), new ModelEndpoint()]);
    for (let step = 0; step < steps; step += 1) {
      const name = await this.#step();
      for (const [endpoint, model] of this.#endpoints) {
        model.settle();
        await this.#check(endpoint, model, `step ${step}: ${name}`);
      }
    }
    return true;
  }

  async #step(): Promise<string> {
    const [endpoint, model] = this.#dice.pick(this.#endpoints);
    const kind = this.#dice.below(24);
    if (kind < 6) return this.#capture();
    if (kind < 10) return this.#plan(endpoint, model);
    if (kind < 15) return this.#record();
    if (kind < 17) return this.#save(endpoint, model);
    if (kind < 19) return this.#delete(endpoint, model);
    if (kind < 20) return this.#retry(endpoint, model);
    if (kind < 21) return this.#addDestination(endpoint, model);
    if (kind < 22) return this.#switchDestination(endpoint, model);
    if (kind < 23) return this.#dice.below(2) === 0 ? this.#removeDestination(endpoint, model) : this.#purge();
    return this.#dice.below(4) === 0 ? this.#clear(endpoint, model) : this.#capture();
  }

  async #capture(): Promise<string> {
    // A larger batch leaves some of the oldest requests for the next one to trim.
    const batch = Array.from({ length: 1 + this.#dice.below(LIMITS.maxUnsaved) }, () => {
      const [endpoint, model] = this.#dice.pick(this.#endpoints);
      const method = this.#dice.pick(METHODS);
      model.capture(method);
      return { model, to: endpoint.id, method, at: ++this.#time };
    });
    await capture(this.#store, batch, LIMITS);
    for (const { model } of batch) model.trim();
    return 'capture';
  }

  async #plan({ id }: EndpointRecord, model: ModelEndpoint): Promise<string> {
    const maxPending = 2 + this.#dice.below(8);
    await this.#world.plan(id, maxPending);
    model.plan(maxPending);
    return `plan ${maxPending}`;
  }

  /** Records attempts of pending deliveries and of replays, of both endpoints at once. */
  async #record(): Promise<string> {
    const attempts: Attempt[] = [];
    for (const [endpoint, model] of this.#endpoints) {
      for (const { id } of model.destinations)
        for (const delivery of await this.#world.due(id, LATER)) {
          if (this.#dice.below(3) > 0) continue;
          const ends = this.#dice.below(2) === 0;
          const status = this.#dice.pick([200, 404, 500]);
          attempts.push(
            deliveryAttempt({
              endpointId: endpoint.id,
              index: delivery.index,
              deliveryId: delivery.id,
              destinationId: id,
              attempt: delivery.attempts + 1,
              at: ++this.#time,
              status,
              nextAttemptAt: ends ? null : this.#time + 5000,
            }),
          );
        }
      if (this.#dice.below(2) === 0 && model.nextIndex > 0)
        attempts.push(
          deliveryAttempt({
            endpointId: endpoint.id,
            index: this.#dice.below(model.nextIndex),
            deliveryId: `dlv_replay${(this.#replays += 1)}-${endpoint.id}`,
            kind: 'replay',
            destinationId: null,
            at: ++this.#time,
          }),
        );
    }
    await this.#store.recordAttempts(attempts, this.#time);
    for (const [, model] of this.#endpoints)
      model.pending = model.pending.filter(
        ({ destinationId, index }) =>
          !attempts.some(
            (one) => one.destinationId === destinationId && one.index === index && one.nextAttemptAt === null,
          ),
      );
    return `record ${attempts.map(({ kind, index, nextAttemptAt }) => `${kind} ${index} ${nextAttemptAt === null}`).join(', ')}`;
  }

  async #save({ id }: EndpointRecord, model: ModelEndpoint): Promise<string> {
    if (model.rows.length === 0) return 'nothing to save';
    const row = this.#dice.pick(model.rows);
    const result = await this.#store.saveRequest(id, row.index, { maxSaved: LIMITS.maxSaved, bodyBytes: 0 });
    if (result !== 'limit') row.isSaved = true;
    return `save ${row.index}`;
  }

  async #delete({ id }: EndpointRecord, model: ModelEndpoint): Promise<string> {
    if (model.rows.length === 0) return 'nothing to delete';
    const { index } = this.#dice.pick(model.rows);
    const found = (await everything(this.#store, id)).find((row) => row.index === index);
    const savedId = found?.savedId ?? null;
    assert.equal(await this.#store.deleteRequest(id, savedId === null ? { index } : { savedId }), true);
    model.rows = model.rows.filter((row) => row.index !== index);
    model.pending = model.pending.filter((delivery) => delivery.index !== index);
    return `delete ${index}`;
  }

  async #retry({ id }: EndpointRecord, model: ModelEndpoint): Promise<string> {
    if (model.rows.length === 0) return 'nothing to retry';
    const { index } = this.#dice.pick(model.rows);
    const [attempt] = (await this.#store.listAttempts(id, index)).filter(({ kind }) => kind === 'forward');
    if (attempt === undefined) return 'nothing to retry';
    const result = await this.#store.retryDelivery(id, attempt.deliveryId, this.#time);
    const destination = model.destinations.find((one) => one.id === attempt.destinationId);
    if (destination === undefined) assert.equal(result, 'deleted');
    else if (!destination.isEnabled) assert.equal(result, 'off');
    else if (
      result !== 'paused' &&
      !model.pending.some((one) => one.index === index && one.destinationId === destination.id)
    )
      model.pending.push({ destinationId: destination.id, index });
    return `retry ${index}`;
  }

  async #addDestination(endpoint: EndpointRecord, model: ModelEndpoint): Promise<string> {
    if (model.destinations.length === 3) return 'enough destinations';
    const query = this.#dice.pick(['', ...METHODS.map((method) => `method:${method}`)]);
    const { id } = await this.#world.add(endpoint, { query });
    model.destinations.push({ id, query, isEnabled: true, fromIndex: model.nextIndex });
    model.plannedTo ??= model.nextIndex;
    return `add ${id}`;
  }

  async #switchDestination({ id }: EndpointRecord, model: ModelEndpoint): Promise<string> {
    if (model.destinations.length === 0) return 'nothing to switch';
    const destination = this.#dice.pick(model.destinations);
    destination.isEnabled = !destination.isEnabled;
    if (destination.isEnabled) destination.fromIndex = model.nextIndex;
    await this.#store.changeDestination(id, destination.id, { enabled: destination.isEnabled }, this.#time);
    return `switch ${destination.id}`;
  }

  async #removeDestination({ id }: EndpointRecord, model: ModelEndpoint): Promise<string> {
    if (model.destinations.length === 0) return 'nothing to remove';
    const destination = this.#dice.pick(model.destinations);
    for (;;) if ((await this.#store.removeDestination(id, destination.id, 2))?.isFinished === true) break;
    model.destinations = model.destinations.filter((one) => one !== destination);
    model.pending = model.pending.filter(({ destinationId }) => destinationId !== destination.id);
    if (model.destinations.length === 0) model.plannedTo = null;
    return `remove ${destination.id}`;
  }

  async #clear({ id }: EndpointRecord, model: ModelEndpoint): Promise<string> {
    await this.#store.clearRequests(id);
    model.rows = [];
    model.pending = [];
    model.captured = 0;
    model.dropped = 0;
    if (model.plannedTo !== null) model.plannedTo = model.nextIndex;
    return 'clear';
  }

  async #purge(): Promise<string> {
    await this.#store.purgeSome(1 + this.#dice.below(4));
    return 'purge';
  }

  async #check({ id, uid }: EndpointRecord, model: ModelEndpoint, step: string): Promise<void> {
    const stored = (await everything(this.#store, id)).toReversed();
    assert.deepEqual(
      stored.map(({ index, savedId, delivery }) => [index, savedId !== null, delivery?.isPending ?? false]),
      model.rows.map(({ index, isSaved }) => [index, isSaved, model.isPending(index)]),
      step,
    );
    await expectCounted(this.#store, uid);
    const endpoint = await this.#store.findEndpoint(uid);
    assert.deepEqual([endpoint?.capturedCount, endpoint?.droppedCount], [model.captured, model.dropped], step);
    const destinations = await this.#store.listDestinations(id);
    const pendingOf = (destinationId: number) =>
      model.pending.filter((delivery) => delivery.destinationId === destinationId).length;
    assert.deepEqual(
      destinations.map(({ id: destinationId, pending }) => [destinationId, pending]),
      model.destinations.map((destination) => [destination.id, pendingOf(destination.id)]),
      step,
    );
  }
}

/** After any operations in any order, requests, counters and pending deliveries equal those of a simple model. */
export function randomDeliveriesSuite(store: AppStore): void {
  test('random operations with deliveries leave what a simple model has', async () => {
    await expect(new RandomDeliveries(store, SEED).run(STEPS)).resolves.toBe(true);
  });
}
