import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { CapturePacker, trimBatch } from './packed-captures.ts';
import { decodeHead, encodeHead } from './stored-request.ts';
import type { AppStore } from '../queries.ts';
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
} from '../../test/store-world.ts';
import { deliveryWorld } from '../../test/delivery-world.ts';

/** Batches of captures: order, indexes, trimming, autosave, and exact bytes. */
export function captureSuite(store: AppStore): void {
  describe('captures', () => {
    test('a batch over several endpoints keeps the order within each', async () => {
      const [a, b, c] = [await someEndpoint(store), await someEndpoint(store), await someEndpoint(store)];
      const turns = [b, a, c, a, b, a, c, a].map((endpoint, nth) => ({
        to: endpoint.id,
        body: `turn ${nth}`,
        at: T0 + nth,
      }));
      expect((await capture(store, turns)).map((stored) => stored.index)).toEqual([0, 0, 0, 1, 1, 2, 1, 3]);
      expect((await everything(store, a.id)).map(textOf)).toEqual(['turn 7', 'turn 5', 'turn 3', 'turn 1']);
      expect((await everything(store, b.id)).map(textOf)).toEqual(['turn 4', 'turn 0']);
      expect((await store.findEndpoint(c.uid))?.latestAt).toBe(T0 + 6);
      for (const { uid } of [a, b, c]) {
        await expectCounted(store, uid);
      }
    });

    test('a capture for a deleted endpoint is reported, and the rest of the batch is stored', async () => {
      const [gone, here] = [await someEndpoint(store), await someEndpoint(store)];
      await store.deleteEndpoint(gone.id);
      const outcome = await capture(store, [{ to: gone.id }, { to: here.id }, { to: gone.id }, { to: here.id }]);
      expect(outcome.map((stored) => stored.index)).toEqual([-1, 0, -1, 1]);
      expect(await capture(store, [{ to: gone.id }])).toEqual([{ index: -1, savedId: 0 }]);
      expect(indexesOf(await everything(store, here.id))).toEqual([1, 0]);
    });

    test('an index is never used again after clearing, trimming or deleting', async () => {
      const { id } = await someEndpoint(store);
      const limits = { ...LIMITS, maxUnsaved: 3 };
      expect(indexesOf(await captureMany(store, id, 5, limits))).toEqual([0, 1, 2, 3, 4]);
      await store.deleteRequest(id, { index: 4 });
      expect(indexesOf(await captureMany(store, id, 1, limits))).toEqual([5]);
      await store.clearRequests(id);
      expect(indexesOf(await captureMany(store, id, 1, limits))).toEqual([6]);
      expect(indexesOf(await everything(store, id))).toEqual([6]);
    });

    test('beyond the limit exactly the oldest unsaved are trimmed, and saved ones stay', async () => {
      const { id, uid } = await someEndpoint(store);
      const limits = { ...LIMITS, maxUnsaved: 10 };
      await captureMany(store, id, 10, limits);
      for (const index of [0, 3, 9]) await store.saveRequest(id, index, { maxSaved: 100, bodyBytes: 0 });
      await captureMany(store, id, 3, limits);
      expect(indexesOf(await everything(store, id))).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      await captureMany(store, id, 4, limits);
      expect(indexesOf(await everything(store, id))).toEqual([16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 3, 0]);
      await captureMany(store, id, 25, limits);
      expect(indexesOf(await everything(store, id))).toEqual([41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 9, 3, 0]);
      await expectCounted(store, uid);
    });

    test('a batch larger than the limit leaves its newest captures and the saved ones', async () => {
      const { id, uid } = await someEndpoint(store);
      const limits = { maxUnsaved: 4, maxSaved: 100 };
      await captureMany(store, id, 3, limits);
      await store.saveRequest(id, 1, { maxSaved: 100, bodyBytes: 0 });
      expect(indexesOf(await captureMany(store, id, 9, limits))).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
      expect(indexesOf(await everything(store, id))).toEqual([11, 10, 9, 8, 1]);
      await store.changeEndpoint(id, { autosave: true });
      await captureMany(store, id, 8, { ...limits, maxSaved: 3 });
      expect(indexesOf(await everything(store, id))).toEqual([19, 18, 17, 16, 13, 12, 1]);
      await captureMany(store, id, 1, { ...limits, maxSaved: 3 });
      expect(indexesOf(await everything(store, id))).toEqual([20, 19, 18, 17, 13, 12, 1]);
      await expectCounted(store, uid);
    });

    test.each([
      ['of one method', ['POST'], []],
      ['of another than the batch', ['PUT'], []],
      ['of several', ['POST', 'GET', 'POST'], []],
      ['with gaps', ['POST'], [2, 3, 7]],
      ['of several, with gaps', ['GET', 'POST'], [0, 4, 5]],
    ])('what is trimmed is counted by its own method and size: %s', async (_, methods, deleted) => {
      const { id, uid } = await someEndpoint(store);
      const limits = { ...LIMITS, maxUnsaved: 12 };
      const old = Array.from({ length: 12 }, (_row, nth) => methods[nth % methods.length] ?? '');
      await capture(
        store,
        old.map((method, nth) => ({ to: id, method, body: 'x'.repeat(nth % 4) })),
        limits,
      );
      for (const index of deleted) await store.deleteRequest(id, { index });
      for (const count of [3, 1, 5, 2, 9]) {
        await captureMany(store, id, count, limits);
        await expectCounted(store, uid);
      }
      expect(indexesOf(await everything(store, id))).toEqual(Array.from({ length: 12 }, (_row, nth) => 31 - nth));
    });

    test('after the limit was lowered, each batch trims 500 more than it adds down to it, oldest first', async () => {
      const { id, uid } = await someEndpoint(store);
      await captureMany(store, id, 1300);
      const limits = { ...LIMITS, maxUnsaved: 100 };
      const counts = [];
      for (let batch = 0; batch < 4; batch++) {
        await captureMany(store, id, 1, limits);
        counts.push((await store.findEndpointDetail(uid))?.unsavedCount);
      }
      expect(counts).toEqual([500, 100, 100, 100]);
      const left = indexesOf(await everything(store, id));
      expect(left).toHaveLength(100);
      expect(left.at(0)).toBe(1303);
      expect(left.at(-1)).toBe(1204);
      await expectCounted(store, uid);
    });

    test.each([
      ['of one method', 'POST'],
      ['of several', 'PUT'],
    ])('large bodies are trimmed in several batches: %s', async (_, second) => {
      const [one, two] = [await someEndpoint(store), await someEndpoint(store)];
      const limits = { ...LIMITS, maxUnsaved: 4 };
      for (const { id } of [one, two])
        for (const [nth, megabytes] of [5, 4, 9, 3].entries())
          await capture(
            store,
            [{ to: id, body: 'x'.repeat(megabytes * 1_000_000), method: nth === 1 ? second : 'POST' }],
            limits,
          );
      const packer = new CapturePacker();
      for (const { id } of [one, two])
        for (let nth = 0; nth < 4; nth += 1) packer.add(id, T0, 'POST', encodeHead('/', '', true, []), null);
      const { overfull } = await store.writeCaptures(packer.take(), limits);
      expect(overfull).toEqual([one.id, two.id]);
      for (const { id, uid } of [one, two]) {
        await expect.poll(async () => indexesOf(await everything(store, id))).toEqual([7, 6, 5, 4]);
        await expectCounted(store, uid);
        expect(await store.findEndpointDetail(uid)).toMatchObject({ droppedCount: 4 });
      }
    });

    test('large bodies of an endpoint with destinations are trimmed in several batches', async () => {
      const endpoint = await someEndpoint(store);
      const { id, uid } = endpoint;
      const limits = { ...LIMITS, maxUnsaved: 4 };
      const { add, plan } = deliveryWorld(store);
      await add(endpoint, { query: 'method:GET' });
      for (const megabytes of [5, 4, 9, 3])
        await capture(store, [{ to: id, body: 'x'.repeat(megabytes * 1_000_000) }], limits);
      await plan(id);
      const packer = new CapturePacker();
      for (let nth = 0; nth < 4; nth += 1) packer.add(id, T0, 'POST', encodeHead('/', '', true, []), null);
      const { overfull } = await store.writeCaptures(packer.take(), limits);
      expect(overfull).toEqual([id]);
      await expect.poll(async () => indexesOf(await everything(store, id))).toEqual([7, 6, 5, 4]);
      await expectCounted(store, uid);
      expect(await store.findEndpointDetail(uid)).toMatchObject({ droppedCount: 4 });
    });

    test('a batch that only trims leaves an endpoint that was cleared as it is', async () => {
      const { id, uid } = await someEndpoint(store);
      await captureMany(store, id, 3);
      await store.clearRequests(id);
      await store.writeCaptures(trimBatch([id]), { ...LIMITS, maxUnsaved: 1 });
      expect(await store.findEndpointDetail(uid)).toMatchObject({ latestAt: null, unsavedCount: 0, capturedCount: 0 });
    });

    test('with autosave a batch saves up to the limit and stores the rest unsaved', async () => {
      const endpoint = await someEndpoint(store, { autosave: true });
      const limits = { maxUnsaved: 2, maxSaved: 5 };
      const first = await captureMany(store, endpoint.id, 3, limits);
      const second = await captureMany(store, endpoint.id, 6, limits);
      const ids = [...first, ...second].map((stored) => stored.savedId);
      expect(ids.slice(5)).toEqual([0, 0, 0, 0]);
      expect(ids.slice(0, 5).every((id) => id > 0)).toBe(true);
      expect(ids.slice(0, 5)).toEqual(ids.slice(0, 5).toSorted((a, b) => a - b));
      expect(new Set(ids.slice(0, 5)).size).toBe(5);
      const rows = await everything(store, endpoint.id);
      expect(indexesOf(rows)).toEqual([8, 7, 4, 3, 2, 1, 0]);
      expect(rows.map((row) => row.savedId)).toEqual([null, null, ...ids.slice(0, 5).toReversed()]);
      await expectCounted(store, endpoint.uid);
    });

    test('a batch with both kinds of endpoints treats each correctly', async () => {
      const [saves, not] = [await someEndpoint(store, { autosave: true }), await someEndpoint(store)];
      const outcome = await capture(store, [{ to: not.id }, { to: saves.id }, { to: not.id }, { to: saves.id }]);
      expect(outcome.map((stored) => stored.savedId > 0)).toEqual([false, true, false, true]);
    });

    test('ten parallel batches assign every index once', async () => {
      const { id, uid } = await someEndpoint(store, { autosave: true });
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => captureMany(store, id, 30)));
      const stored = outcomes.flat();
      expect(indexesOf(stored).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, nth) => nth));
      expect(new Set(stored.map((one) => one.savedId)).size).toBe(300);
      await expectCounted(store, uid);
    });

    test('every method that the parser knows is stored', async () => {
      const { id } = await someEndpoint(store);
      await capture(
        store,
        METHODS.map((method) => ({ to: id, method })),
      );
      expect((await everything(store, id)).map((row) => row.method)).toEqual(METHODS.toReversed());
    });
  });

  describe('bytes', () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    test.each([
      ['every byte there is', all],
      ['NUL alone', Buffer.alloc(1)],
      ['NUL in JSON', Buffer.from('{"a":"\0\\u0000"}')],
      [
        'UTF-8 that is none: overlong, lone surrogate, cut off',
        Buffer.from([0xc0, 0xaf, 0xed, 0xa0, 0x80, 0xe2, 0x82]),
      ],
      ['UTF-16 with its mark', Buffer.from('\ufeffwide 🦀', 'utf16le')],
      ['line ends and backslashes', Buffer.from('\r\n\\x41\\000\\\\\n')],
      ['25 MiB', Buffer.alloc(25 * 1024 * 1024, all)],
    ])('a body is kept byte for byte: %s', async (_, body) => {
      const { id } = await someEndpoint(store);
      await capture(store, [
        { to: id, body: 'before' },
        { to: id, body },
        { to: id, body: 'after' },
      ]);
      const kept = await store.findRequest(id, { index: 1 });
      expect(kept?.size).toBe(body.length);
      expect(Buffer.compare(Buffer.from(kept?.body ?? []), body)).toBe(0);
      expect(textOf(await store.findRequest(id, { index: 2 }))).toBe('after');
    });

    test('a time before the newest one of the endpoint is raised, and the outcome has the stored time', async () => {
      const { id } = await someEndpoint(store);
      await capture(store, [{ to: id, at: T0 + 60_000 }]);
      const packer = new CapturePacker();
      packer.add(id, T0, 'POST', encodeHead('/', '192.0.2.1', true, []), null);
      const { receivedAt } = await store.writeCaptures(packer.take(), LIMITS);
      expect([...(receivedAt ?? [])]).toEqual([T0 + 60_000]);
      expect((await everything(store, id)).map((row) => row.receivedAt)).toEqual([T0 + 60_000, T0 + 60_000]);
    });

    test('times in a batch ascend per endpoint after the clock was set back, and other endpoints have the present time', async () => {
      const [busy, other] = [await someEndpoint(store), await someEndpoint(store)];
      const packer = new CapturePacker();
      for (const [{ id }, at] of [
        [busy, 5000],
        [other, 4000],
        [busy, 4000],
        [busy, 4500],
        [busy, 6000],
        [busy, 5500],
      ] as const)
        packer.add(id, T0 + at, 'POST', encodeHead('/', '192.0.2.1', true, []), null);
      const { receivedAt } = await store.writeCaptures(packer.take(), LIMITS);
      expect([...(receivedAt ?? [])].map((at) => at - T0)).toEqual([5000, 4000, 5000, 5000, 6000, 6000]);
      const timesOf = async (id: number) => (await everything(store, id)).map((row) => row.receivedAt - T0);
      expect(await timesOf(busy.id)).toEqual([6000, 6000, 5000, 5000, 5000]);
      expect(await timesOf(other.id)).toEqual([4000]);
      expect((await store.findEndpoint(busy.uid))?.latestAt).toBe(T0 + 6000);
    });

    test('no body and an empty one are the same', async () => {
      const { id } = await someEndpoint(store);
      await capture(store, [
        { to: id, body: null },
        { to: id, body: '' },
        { to: id, body: 'x' },
      ]);
      expect((await everything(store, id)).map((row) => [row.body === null, row.size])).toEqual([
        [false, 1],
        [true, 0],
        [true, 0],
      ]);
    });

    test('a head keeps target, address, and names and values with order, case and bytes', async () => {
      const { id } = await someEndpoint(store);
      const high = Array.from({ length: 128 }, (_, byte) => String.fromCharCode(128 + byte)).join('');
      const headers = [
        'X-A',
        '1',
        'x-a',
        '2',
        'X-A',
        '',
        'Bytes',
        `\t${high}`,
        'Utf8',
        Buffer.from('é🦀').toString('latin1'),
      ];
      await capture(store, [{ to: id, target: '//a%zz?b=%00&b=c#', headers, sourceIp: '2001:db8::7', body: 'b' }]);
      const row = await store.findRequest(id, { index: 0 });
      expect(decodeHead(row?.head ?? new Uint8Array())).toEqual({
        target: '//a%zz?b=%00&b=c#',
        sourceIp: '2001:db8::7',
        bodyIsText: true,
        rawHeaders: [
          ['X-A', '1'],
          ['x-a', '2'],
          ['X-A', ''],
          ['Bytes', `\t${high}`],
          ['Utf8', Buffer.from('é🦀').toString('latin1')],
        ],
      });
    });
  });
}
