import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { unsavedId } from '@creel/contract';
import { makeDice } from '../../../../fixtures/dice.ts';
import type { Dice } from '../../../../fixtures/dice.ts';
import type { EndpointRecord } from './records.ts';
import type { AppStore } from '../queries.ts';
import { T0, capture, everything, expectCounted, someEndpoint } from '../../test/store-world.ts';

const LIMITS = { maxUnsaved: 6, maxSaved: 5 };
const METHODS = ['GET', 'POST', 'PUT'];

interface ModelRow {
  readonly index: number;
  readonly size: number;
  readonly method: string;
  savedId: number | null;
}

/** The expected contents of an endpoint, computed by the simplest possible code. */
interface ModelEndpoint {
  readonly record: EndpointRecord;
  rows: ModelRow[];
  next: number;
  captured: number;
  dropped: number;
  autosave: boolean;
}

/** A store and a model of it, driven by the same random numbers. */
class RandomRun {
  readonly #store: AppStore;
  readonly #dice: Dice;
  readonly #endpoints: ModelEndpoint[];
  #time = T0;

  private constructor(store: AppStore, dice: Dice, endpoints: ModelEndpoint[]) {
    this.#store = store;
    this.#dice = dice;
    this.#endpoints = endpoints;
  }

  static async begin(store: AppStore, seed: number): Promise<RandomRun> {
    const endpoints: ModelEndpoint[] = [];
    for (let nth = 0; nth < 3; nth++)
      endpoints.push({
        record: await someEndpoint(store),
        rows: [],
        next: 0,
        captured: 0,
        dropped: 0,
        autosave: false,
      });
    return new RandomRun(store, makeDice(seed), endpoints);
  }

  /** Takes this many steps and checks after each tenth. Returns true, or throws the difference. */
  async take(steps: number): Promise<true> {
    for (let step = 1; step <= steps; step++) {
      await this.#step();
      if (step % 10 === 0) await this.#check();
    }
    return true;
  }

  async #step(): Promise<void> {
    const endpoint = this.#endpoints[this.#dice.below(this.#endpoints.length)];
    if (endpoint === undefined) throw new Error('No endpoint.');
    const kind = this.#dice.below(20);
    if (kind < 8) await this.#capture();
    else if (kind < 11) await this.#save(endpoint);
    else if (kind < 12) await this.#saveSome(endpoint);
    else if (kind < 15) await this.#delete(endpoint);
    else if (kind < 16) await this.#deleteSome(endpoint);
    else if (kind < 17) await this.#clear(endpoint);
    else if (kind < 18) await this.#switch(endpoint);
    else await this.#store.purgeSome(1 + this.#dice.below(4));
  }

  /** The store's rows and counters equal the model's and a recount. */
  async #check(): Promise<void> {
    for (const { record, rows, captured, dropped } of this.#endpoints) {
      const stored = await everything(this.#store, record.id);
      assert.deepEqual(
        stored.map(({ index, size, method, savedId }) => ({ index, size, method, savedId })),
        rows.toReversed(),
      );
      await expectCounted(this.#store, record.uid);
      const endpoint = await this.#store.findEndpoint(record.uid);
      assert.deepEqual([endpoint?.capturedCount, endpoint?.droppedCount], [captured, dropped]);
    }
  }

  async #capture(): Promise<void> {
    // Half of the batches have a single method, which takes another path when trimming.
    const methods = this.#dice.below(2) === 0 ? METHODS : METHODS.slice(this.#dice.below(3)).slice(0, 1);
    const batch = Array.from({ length: 1 + this.#dice.below(9) }, () => {
      const endpoint = this.#endpoints[this.#dice.below(this.#endpoints.length)];
      if (endpoint === undefined) throw new Error('No endpoint.');
      return {
        endpoint,
        to: endpoint.record.id,
        method: methods[this.#dice.below(methods.length)] ?? 'GET',
        body: 'x'.repeat(this.#dice.below(4)),
        at: ++this.#time,
      };
    });
    const outcome = await capture(this.#store, batch, LIMITS);
    for (const [nth, { endpoint, method, body }] of batch.entries()) {
      const saves = endpoint.autosave && endpoint.rows.filter((row) => row.savedId !== null).length < LIMITS.maxSaved;
      assert.equal(outcome[nth]?.index, endpoint.next);
      assert.equal((outcome[nth]?.savedId ?? 0) > 0, saves);
      endpoint.captured++;
      endpoint.rows.push({ index: endpoint.next++, size: body.length, method, savedId: outcome[nth]?.savedId || null });
    }
    for (const endpoint of this.#endpoints) {
      const unsaved = endpoint.rows.filter((row) => row.savedId === null);
      const trimmed = new Set(
        batch.some((one) => one.endpoint === endpoint)
          ? unsaved.slice(0, Math.max(0, unsaved.length - LIMITS.maxUnsaved))
          : [],
      );
      endpoint.dropped += trimmed.size;
      endpoint.rows = endpoint.rows.filter((row) => !trimmed.has(row));
    }
  }

  async #save(endpoint: ModelEndpoint): Promise<void> {
    const index = this.#dice.below(endpoint.next + 1);
    const row = endpoint.rows.find((one) => one.index === index);
    const result = await this.#store.saveRequest(endpoint.record.id, index, {
      maxSaved: LIMITS.maxSaved,
      bodyBytes: 0,
    });
    if (row === undefined) return assert.equal(result, undefined);
    if (row.savedId === null && endpoint.rows.filter((one) => one.savedId !== null).length >= LIMITS.maxSaved)
      return assert.equal(result, 'limit');
    assert(result !== undefined && result !== 'limit');
    assert.equal(result.changed, row.savedId === null);
    if (row.savedId !== null) assert.equal(result.record.savedId, row.savedId);
    row.savedId = result.record.savedId;
  }

  async #saveSome(endpoint: ModelEndpoint): Promise<void> {
    const indexes = Array.from({ length: 1 + this.#dice.below(6) }, () => this.#dice.below(endpoint.next + 1));
    const rows = [...new Set(indexes)].flatMap((index) => endpoint.rows.find((row) => row.index === index) ?? []);
    const unsaved = rows.filter((row) => row.savedId === null);
    const count = endpoint.rows.filter((row) => row.savedId !== null).length;
    const changed = unsaved.slice(0, Math.max(0, LIMITS.maxSaved - count));
    const step = await this.#store.saveSome(endpoint.record.id, indexes, LIMITS.maxSaved);
    assert.deepEqual(
      [step.changed, step.isFull, step.left],
      [changed.map(({ index }) => index), changed.length < unsaved.length, []],
    );
    for (const row of changed) row.savedId = step.saved.find(({ index }) => index === row.index)?.id ?? null;
    const expected = rows.flatMap(({ index, savedId }) => (savedId === null ? [] : [{ index, id: savedId }]));
    assert.deepEqual(step.saved, expected);
  }

  async #delete(endpoint: ModelEndpoint): Promise<void> {
    const index = this.#dice.below(endpoint.next + 1);
    const row = endpoint.rows.find((one) => one.index === index);
    const name = row === undefined || row.savedId === null ? { index } : { savedId: row.savedId };
    assert.equal(await this.#store.deleteRequest(endpoint.record.id, name), row !== undefined);
    endpoint.rows = endpoint.rows.filter((one) => one !== row);
  }

  async #deleteSome(endpoint: ModelEndpoint): Promise<void> {
    const indexes = Array.from({ length: 1 + this.#dice.below(6) }, () => this.#dice.below(endpoint.next + 1));
    const deleted = endpoint.rows.filter(({ index }) => indexes.includes(index));
    const { ids, left } = await this.#store.deleteSome(endpoint.record.id, indexes);
    const expected = deleted.map(({ index, savedId }) => savedId ?? unsavedId(index));
    assert.deepEqual([ids.toSorted(), left], [expected.toSorted(), []]);
    endpoint.rows = endpoint.rows.filter((row) => !deleted.includes(row));
  }

  async #clear(endpoint: ModelEndpoint): Promise<void> {
    await this.#store.clearRequests(endpoint.record.id);
    Object.assign(endpoint, { rows: [], captured: 0, dropped: 0 });
  }

  async #switch(endpoint: ModelEndpoint): Promise<void> {
    endpoint.autosave = !endpoint.autosave;
    await this.#store.changeEndpoint(endpoint.record.id, { autosave: endpoint.autosave });
  }
}

/** After any operations in any order, the counters equal a recount and the rows equal a simple model. */
export function randomOperationsSuite(store: AppStore): void {
  describe('random operations', () => {
    test.each([1, 20_261_121, 7_777_777])('with seed %i rows and counters stay correct', async (seed) => {
      const run = await RandomRun.begin(store, seed);
      await expect(run.take(200)).resolves.toBe(true);
    });
  });
}
