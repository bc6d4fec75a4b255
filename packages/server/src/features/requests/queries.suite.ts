import { describe, expect, test } from 'vitest';
import { unsavedId } from '@creel/contract';
import { decodeHead, encodeHead } from '../../database/stored-request.ts';
import type { ListQuery } from './queries.ts';
import type { AppStore } from '../../queries.ts';
import {
  LIMITS,
  T0,
  capture,
  captureMany,
  expectCounted,
  everything,
  indexesOf,
  someEndpoint,
  textOf,
} from '../../../test/store-world.ts';

const NOWHERE = 2_000_000_000;

/** Lists, single requests, saving, deleting, clearing. */
export function requestsSuite(store: AppStore): void {
  const list = async (endpointId: number, query: Partial<ListQuery> = {}): Promise<number[]> =>
    indexesOf(await store.listRequests({ endpointId, which: 'any', limit: 500, bodyBytes: 10, ...query }));

  /** Ten captures, alternating GET and POST; 2, 5 and 6 are saved. */
  async function tenRequests(): Promise<{ id: number; uid: string; savedIds: number[] }> {
    const { id, uid } = await someEndpoint(store);
    await capture(
      store,
      Array.from({ length: 10 }, (_, nth) => ({
        to: id,
        method: nth % 2 === 0 ? 'GET' : 'POST',
        body: `body ${nth}`,
        at: T0 + nth,
      })),
    );
    const savedIds: number[] = [];
    for (const index of [2, 5, 6]) {
      const saved = await store.saveRequest(id, index, { maxSaved: 100, bodyBytes: 100 });
      if (saved === undefined || saved === 'limit') throw new Error('Not saved.');
      savedIds.push(saved.record.savedId ?? 0);
    }
    return { id, uid, savedIds };
  }

  describe('restoring', () => {
    const lost = (index: number, body: string | null = 'again') => ({
      index,
      method: 'PUT',
      receivedAt: T0 + 1,
      head: Buffer.from(encodeHead('/a?b', '192.0.2.9', true, ['X-A', '1'])),
      body: body === null ? null : Buffer.from(body),
    });

    test('a dropped request is stored again as a saved one, with its index, and is counted', async () => {
      const { id, uid } = await someEndpoint(store);
      await captureMany(store, id, 6, { ...LIMITS, maxUnsaved: 2 });
      expect((await store.findEndpoint(uid))?.droppedCount).toBe(4);
      const restored = await store.restoreRequest(id, lost(1), 100);
      if (typeof restored !== 'object') throw new Error('Not restored.');
      expect(restored).toMatchObject({ changed: true, record: { index: 1, method: 'PUT', size: 5 } });
      const [, , row] = await everything(store, id);
      expect(row).toMatchObject({ index: 1, savedId: restored.record.savedId, receivedAt: T0 + 1, method: 'PUT' });
      expect(textOf(row)).toBe('again');
      expect(decodeHead(row?.head ?? new Uint8Array())).toMatchObject({ target: '/a?b', rawHeaders: [['X-A', '1']] });
      expect(await store.findEndpoint(uid)).toMatchObject({
        savedCount: 1,
        capturedCount: 6,
        newestIndex: 5,
        droppedCount: 3,
      });
      await expectCounted(store, uid);
      expect(await store.restoreRequest(id, lost(1), 100)).toMatchObject({ changed: false, record: { size: 5 } });
      expect(await store.restoreRequest(id, lost(1, null), 100)).toBe('other');
    });

    test('its time stays between those of its neighbors', async () => {
      const { id, uid } = await tenRequests();
      for (const [index, receivedAt, expected] of [
        [3, T0 + 1000, T0 + 4],
        [7, T0 - 1000, T0 + 6],
        [9, T0 + 20, T0 + 20],
      ] as const) {
        await store.deleteRequest(id, { index });
        const restored = await store.restoreRequest(id, { ...lost(index), receivedAt }, 100);
        expect(restored).toMatchObject({ record: { index, receivedAt: expected } });
      }
      // They were deleted and not dropped.
      expect((await store.findEndpoint(uid))?.droppedCount).toBe(0);
    });

    test('only an index that the endpoint has had since it was cleared, up to the limit of saved requests', async () => {
      const { id } = await someEndpoint(store);
      await captureMany(store, id, 3, { ...LIMITS, maxUnsaved: 1 });
      expect(await store.restoreRequest(id, lost(3), 100)).toBeUndefined();
      expect(await store.restoreRequest(id, lost(0), 0)).toBe('limit');
      expect(await store.restoreRequest(NOWHERE, lost(0), 100)).toBeUndefined();
      await store.clearRequests(id);
      expect(await store.restoreRequest(id, lost(0), 100)).toBeUndefined();
    });
  });

  describe('lists', () => {
    test('newest first; saved, unsaved, or both; by method; below an index; with a limit', async () => {
      const { id } = await tenRequests();
      expect(await list(id)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      expect(await list(id, { which: 'saved' })).toEqual([6, 5, 2]);
      expect(await list(id, { which: 'unsaved' })).toEqual([9, 8, 7, 4, 3, 1, 0]);
      expect(await list(id, { method: 'GET' })).toEqual([8, 6, 4, 2, 0]);
      expect(await list(id, { method: 'GET', which: 'saved' })).toEqual([6, 2]);
      expect(await list(id, { method: 'PUT' })).toEqual([]);
      expect(await list(id, { method: 'get' })).toEqual([]);
      expect(await list(id, { before: 6 })).toEqual([5, 4, 3, 2, 1, 0]);
      expect(await list(id, { before: 6, which: 'saved' })).toEqual([5, 2]);
      expect(await list(id, { before: 0 })).toEqual([]);
      expect(await list(id, { before: 1_000_000 })).toHaveLength(10);
      expect(await list(id, { limit: 3 })).toEqual([9, 8, 7]);
      expect(await list(id, { limit: 2, before: 7, which: 'unsaved', method: 'POST' })).toEqual([3, 1]);
    });

    test('pages return everything once', async () => {
      const { id } = await someEndpoint(store);
      await captureMany(store, id, 23);
      const seen: number[] = [];
      for (;;) {
        const page = await list(id, { limit: 5, before: seen.at(-1) });
        seen.push(...page);
        if (page.length < 5) break;
      }
      expect(seen).toEqual(Array.from({ length: 23 }, (_, nth) => 22 - nth));
    });

    test('an endpoint’s list ends at its neighbors', async () => {
      const [a, b, c] = [await someEndpoint(store), await someEndpoint(store), await someEndpoint(store)];
      await capture(
        store,
        [a, b, b, c].map((endpoint) => ({ to: endpoint.id })),
      );
      expect(await list(b.id)).toEqual([1, 0]);
      expect(await list(NOWHERE)).toEqual([]);
    });

    test('bodies are truncated on request; the size is of the whole', async () => {
      const { id } = await someEndpoint(store);
      await capture(store, [{ to: id, body: Buffer.from('\0ab\xffcd', 'latin1') }, { to: id }]);
      const [none, cut] = await store.listRequests({ endpointId: id, which: 'any', limit: 2, bodyBytes: 4 });
      expect(none).toMatchObject({ body: null, size: 0 });
      expect(cut?.size).toBe(6);
      expect(textOf(cut)).toBe('\0ab\xff');
      expect(textOf((await store.listRequests({ endpointId: id, which: 'any', limit: 2, bodyBytes: 6 }))[1])).toBe(
        '\0ab\xffcd',
      );
      const [, unread] = await store.listRequests({ endpointId: id, which: 'any', limit: 2, bodyBytes: 0 });
      expect(unread).toMatchObject({ body: null, size: 6 });
    });

    test('large bodies are truncated too', async () => {
      const { id } = await someEndpoint(store);
      const bodies = Array.from({ length: 5 }, (_, nth) => `${nth}${'x'.repeat(2_000_000)}`);
      for (const body of bodies) await capture(store, [{ to: id, body }, { to: id }]);
      const page = await store.listRequests({ endpointId: id, which: 'any', limit: 100, bodyBytes: 3 });
      expect(page.map(textOf).filter((_, nth) => nth % 2 === 1)).toEqual(['4xx', '3xx', '2xx', '1xx', '0xx']);
      expect(page.map(({ size }) => size).slice(0, 2)).toEqual([0, 2_000_001]);
    });
  });

  describe('one request', () => {
    test('unsaved ones are found by index, saved ones by id, and not the reverse', async () => {
      const { id, savedIds } = await tenRequests();
      expect(await store.findRequest(id, { index: 3 })).toMatchObject({
        endpointId: id,
        index: 3,
        savedId: null,
        method: 'POST',
        receivedAt: T0 + 3,
        size: 6,
      });
      expect(await store.findRequest(id, { savedId: savedIds[1] ?? 0 })).toMatchObject({
        index: 5,
        savedId: savedIds[1],
      });
      expect(await store.findRequest(id, { index: 5 })).toBeUndefined();
      for (const index of [10, -1, 4_294_967_296 + 3]) expect(await store.findRequest(id, { index })).toBeUndefined();
      expect(await store.findRequest(id, { savedId: 0 })).toBeUndefined();
      expect(await store.findRequest(NOWHERE, { index: 0 })).toBeUndefined();
    });

    test('a saved id works only at its own endpoint', async () => {
      const [one, other] = [await tenRequests(), await tenRequests()];
      expect(await store.findRequest(other.id, { savedId: one.savedIds[0] ?? 0 })).toBeUndefined();
      expect(await store.deleteRequest(other.id, { savedId: one.savedIds[0] ?? 0 })).toBe(false);
    });

    test('its body is whole, or truncated', async () => {
      const { id } = await tenRequests();
      expect(textOf(await store.findRequest(id, { index: 3 }))).toBe('body 3');
      expect(textOf(await store.findRequest(id, { index: 3 }, 4))).toBe('body');
    });
  });

  describe('saving', () => {
    test('assigns an id, keeps the index, and updates the counters', async () => {
      const { id, uid } = await someEndpoint(store);
      await captureMany(store, id, 3);
      const saved = await store.saveRequest(id, 1, { maxSaved: 10, bodyBytes: 6 });
      expect(saved).toMatchObject({ changed: true, record: { endpointId: id, index: 1, size: 8 } });
      if (saved === undefined || saved === 'limit') throw new Error('Not saved.');
      expect(saved.record.savedId).toBeGreaterThan(0);
      expect(textOf(saved.record)).toBe('number');
      const kept = await expectCounted(store, uid);
      expect(kept).toMatchObject({ saved: 1, unsaved: 2 });
    });

    test('twice, or 20 in parallel, assigns one id', async () => {
      const { id } = await someEndpoint(store);
      await captureMany(store, id, 1);
      const tries = await Promise.all(
        Array.from({ length: 20 }, () => store.saveRequest(id, 0, { maxSaved: 10, bodyBytes: 0 })),
      );
      const again = await store.saveRequest(id, 0, { maxSaved: 10, bodyBytes: 0 });
      const results = [...tries, again].map((one) => (one === undefined || one === 'limit' ? one : one.record.savedId));
      expect(new Set(results).size).toBe(1);
      expect(results[0]).toBeGreaterThan(0);
      expect(tries.filter((one) => one !== undefined && one !== 'limit' && one.changed)).toHaveLength(1);
      expect(again).toMatchObject({ changed: false });
    });

    test('stops exactly at the limit, also for 20 in parallel; saved ones stay saved', async () => {
      const { id } = await someEndpoint(store);
      await captureMany(store, id, 20);
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.saveRequest(id, index, { maxSaved: 7, bodyBytes: 0 })),
      );
      expect(tries.filter((one) => one === 'limit')).toHaveLength(13);
      const saved = await list(id, { which: 'saved' });
      expect(saved).toHaveLength(7);
      expect(await store.saveRequest(id, saved[0] ?? -1, { maxSaved: 7, bodyBytes: 0 })).toMatchObject({
        changed: false,
      });
    });

    test('saves several in their order up to the limit, and returns all that are saved', async () => {
      const [{ id, uid, savedIds }, other] = [await tenRequests(), await tenRequests()];
      const before = await list(id, { which: 'saved' });
      const indexes = [9, 6, 0, 9, 10, -1, 4_294_967_296 + 3, 8, 1];
      const step = await store.saveSome(id, indexes, before.length + 3);
      expect(step.saved.map(({ index }) => index)).toEqual([9, 6, 0, 8]);
      expect(step).toMatchObject({ changed: [9, 0, 8], isFull: true, left: [] });
      const ids = step.saved.map((one) => one.id);
      expect(savedIds).toContain(ids[1]);
      expect(Math.min(...ids.toSpliced(1, 1))).toBeGreaterThan(Math.max(...savedIds));
      for (const one of step.saved)
        expect(await store.findRequest(id, { savedId: one.id }, 0)).toMatchObject({ index: one.index });
      expect(await list(id, { which: 'saved' })).toEqual([9, 8, 6, 5, 2, 0]);
      await expectCounted(store, uid);
      const again = await store.saveSome(id, [8, 1], 0);
      expect(again).toEqual({ saved: [step.saved[3]], changed: [], isFull: true, left: [] });
      expect(await list(other.id, { which: 'saved' })).toEqual(before);
      expect(await store.saveSome(NOWHERE, [0], 9)).toMatchObject({ saved: [], isFull: false, left: [] });
    });

    test('several at the same time never exceed the limit', async () => {
      const { id, uid } = await someEndpoint(store);
      await captureMany(store, id, 40);
      const parts = Array.from({ length: 8 }, (_, part) => Array.from({ length: 5 }, (__, nth) => part * 5 + nth));
      const steps = await Promise.all(parts.map((indexes) => store.saveSome(id, indexes, 17)));
      const saved = steps.flatMap((step) => step.saved);
      expect(saved).toHaveLength(17);
      expect(new Set(saved.map((one) => one.id)).size).toBe(17);
      expect(await expectCounted(store, uid)).toMatchObject({ saved: 17, unsaved: 23 });
    });

    test('an unknown request can’t be saved', async () => {
      const { id } = await someEndpoint(store);
      await captureMany(store, id, 5, { ...LIMITS, maxUnsaved: 2 });
      for (const index of [-1, 2, 5, 4_294_967_296 + 3])
        expect(await store.saveRequest(id, index, { maxSaved: 10, bodyBytes: 0 })).toBeUndefined();
      expect(await store.saveRequest(NOWHERE, 0, { maxSaved: 10, bodyBytes: 0 })).toBeUndefined();
    });
  });

  describe('deleting', () => {
    test('removes one, once, and updates the counters and the latest time', async () => {
      const { id, uid, savedIds } = await tenRequests();
      expect(await store.deleteRequest(id, { index: 5 })).toBe(false);
      expect(
        await Promise.all([
          store.deleteRequest(id, { savedId: savedIds[1] ?? 0 }),
          store.deleteRequest(id, { savedId: savedIds[1] ?? 0 }),
        ]),
      ).toContain(false);
      for (const index of [9, 8, 0]) expect(await store.deleteRequest(id, { index })).toBe(true);
      for (const index of [9, 10, -1]) expect(await store.deleteRequest(id, { index })).toBe(false);
      expect(await list(id)).toEqual([7, 6, 4, 3, 2, 1]);
      const kept = await expectCounted(store, uid);
      expect(kept).toMatchObject({ latestAt: T0 + 7 });
      expect(await store.deleteRequest(NOWHERE, { index: 0 })).toBe(false);
    });

    test('removes several by index, saved or unsaved, and ignores the others', async () => {
      const [{ id, uid, savedIds }, other] = [await tenRequests(), await tenRequests()];
      const indexes = [9, 5, 0, 8, 5, 10, -1, 4_294_967_296 + 3, Number.MAX_SAFE_INTEGER];
      const { ids, left } = await store.deleteSome(id, indexes);
      expect(left).toEqual([]);
      const expected = [unsavedId(9), savedIds[1] ?? 0, unsavedId(0), unsavedId(8)];
      expect(ids.toSorted()).toEqual(expected.toSorted());
      expect(await list(id)).toEqual([7, 6, 4, 3, 2, 1]);
      expect(await list(id, { which: 'saved' })).toEqual([6, 2]);
      expect(await expectCounted(store, uid)).toMatchObject({ latestAt: T0 + 7 });
      expect(await store.deleteSome(id, indexes)).toEqual({ ids: [], left: [] });
      expect(await list(other.id)).toHaveLength(10);
      expect(await store.deleteSome(NOWHERE, [0])).toEqual({ ids: [], left: [] });
      await store.clearRequests(id);
      expect(await store.deleteSome(id, [1, 2])).toEqual({ ids: [], left: [] });
    });

    test.each([
      ['many', 300, 'x'],
      ['large ones', 5, 'x'.repeat(3 * 1024 * 1024)],
    ])('saves and removes a part of %s, because captures wait for each transaction', async (_, count, body) => {
      const { id, uid } = await someEndpoint(store);
      await capture(
        store,
        Array.from({ length: count }, () => ({ to: id, body })),
      );
      const parts: number[] = [];
      for (let unsaved: readonly number[] = Array.from({ length: count }, (__, index) => index); unsaved.length > 0;) {
        const step = await store.saveSome(id, unsaved, count);
        parts.push(step.saved.length);
        unsaved = step.left;
        expect((await list(id, { which: 'unsaved' })).toSorted()).toEqual(unsaved.toSorted());
        await expectCounted(store, uid);
      }
      let left: readonly number[] = Array.from({ length: count }, (__, index) => index);
      const steps: number[] = [];
      while (left.length > 0) {
        const step = await store.deleteSome(id, left);
        steps.push(step.ids.length);
        ({ left } = step);
        expect((await list(id)).toSorted()).toEqual(left.toSorted());
        await expectCounted(store, uid);
      }
      expect(steps).toEqual(count === 5 ? [2, 2, 1] : [128, 128, 44]);
      expect(parts).toEqual(steps);
    });

    test('of the last one leaves nothing, and no latest time', async () => {
      const { id, uid } = await someEndpoint(store);
      await captureMany(store, id, 1);
      await store.deleteRequest(id, { index: 0 });
      expect(await store.findEndpointDetail(uid)).toMatchObject({
        savedCount: 0,
        unsavedCount: 0,
        latestAt: null,
        methodCounts: [],
      });
    });
  });

  test('the bytes of stored bodies are summed over endpoints, without those of deleted requests', async () => {
    const [one, other] = [await someEndpoint(store), await someEndpoint(store)];
    await capture(store, [{ to: one.id, body: 'gone' }]);
    await capture(store, [
      { to: one.id, body: 'abc' },
      { to: other.id, body: 'ü' },
    ]);
    await store.deleteRequest(one.id, { index: 0 });
    expect(await store.storedBodyBytes([one.id, other.id])).toBe(5);
    expect(await store.storedBodyBytes([other.id])).toBe(2);
    expect(await store.storedBodyBytes([])).toBe(0);
  });

  describe('clearing', () => {
    test('hides everything at once, saved ones too, and nothing that arrives later', async () => {
      const { id, uid, savedIds } = await tenRequests();
      await store.clearRequests(id);
      expect(await store.findEndpointDetail(uid)).toMatchObject({
        savedCount: 0,
        unsavedCount: 0,
        latestAt: null,
        methodCounts: [],
      });
      expect(await everything(store, id)).toEqual([]);
      expect(await store.findRequest(id, { index: 0 })).toBeUndefined();
      expect(await store.findRequest(id, { savedId: savedIds[0] ?? 0 })).toBeUndefined();
      expect(await store.saveRequest(id, 0, { maxSaved: 10, bodyBytes: 0 })).toBeUndefined();
      expect(await store.deleteRequest(id, { savedId: savedIds[0] ?? 0 })).toBe(false);
      await captureMany(store, id, 2, { ...LIMITS, maxUnsaved: 1 });
      expect(await list(id)).toEqual([11]);
      await expectCounted(store, uid);
      // An endpoint that is gone: no error.
      await store.clearRequests(NOWHERE);
    });
  });
}
