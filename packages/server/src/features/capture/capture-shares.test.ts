import { describe, expect, test, vi } from 'vitest';
import { newWriter, settled, stored } from '../../../test/capture-batches.ts';

describe('the queue is bounded', () => {
  test('in requests: one user gets half of it, another one the rest; when there is room it continues', async () => {
    const { push, writer, batch, results } = newWriter();
    push('first');
    await settled();
    // Storage hangs. Captures of its batch do not count as waiting, and later ones do.
    const fill = (userId: number): number => {
      let taken = 0;
      while (taken < 100_000 && push('x', 1, userId)) taken += 1;
      return taken;
    };
    const [one, other, third] = [fill(7), fill(8), fill(9)];
    // The third one gets its part of the next batch.
    expect([one, other, third]).toEqual([128 + 4096, 128 + 4096, 128]);
    expect(writer.waitingCount).toBe(one + other + third);
    await batch(0).land();
    await batch(1).land();
    expect(push('late')).toBe(true);
    expect(results.length).toBe(1 + 3 * 128);
  });

  test('in bytes: 64 MiB of one user wait beside a batch, not more', async () => {
    const { push, batch } = newWriter();
    push('first');
    await settled();
    const megabyte = Buffer.alloc(1024 * 1024 - 16);
    let taken = 0;
    while (taken < 1000 && push(megabyte)) taken += 1;
    expect(taken).toBe(1 + 64);
    expect(push(Buffer.alloc(10))).toBe(false);
    expect(push(Buffer.alloc(10), 1, 8)).toBe(true);
    // What the next batch takes no longer counts.
    await batch(0).land();
    expect(push(megabyte)).toBe(true);
  });

  test('a capture larger than a batch is accepted when it is alone', async () => {
    const { push, batch, results } = newWriter();
    expect(push(Buffer.alloc(129 * 1024 * 1024))).toBe(true);
    expect(push(Buffer.alloc(129 * 1024 * 1024))).toBe(false);
    expect(push('x')).toBe(true);
    await settled();
    await batch(0).land();
    expect(results).toEqual([
      [`${129 * 1024 * 1024} bytes`, stored(0)],
      ['x', stored(1)],
    ]);
  });
});

describe('a flooded endpoint', () => {
  test('leaves others room in the next batch, and its own captures keep their order', async () => {
    const { push, batch, results } = newWriter();
    push('first');
    await settled();
    for (let nth = 0; nth < 3000; nth += 1) push(String(nth), 1, 7);
    push('neighbor', 2, 8);
    await batch(0).land();
    expect(batch(1).bodies).toHaveLength(129);
    expect(batch(1).bodies.at(-1)).toBe('neighbor');
    for (let nth = 1; results.length < 3002; nth += 1) {
      await vi.waitFor(() => batch(nth), { timeout: 30_000 });
      await batch(nth).land();
    }
    const own = results.map(([body]) => body).filter((body) => /^\d+$/.test(body));
    expect(own).toEqual(Array.from({ length: 3000 }, (_, nth) => String(nth)));
  });

  test('with large bodies delays the small ones of others by one large body at most, and keeps its order', async () => {
    const { push, batch, results } = newWriter();
    const sizes = [3, 4, 5, 6].map((mebibytes) => mebibytes * 1024 * 1024);
    for (const size of sizes) push(Buffer.alloc(size), 1, 7);
    await settled();
    push('its small one', 1, 7);
    for (let nth = 0; nth < 100; nth += 1) push('neighbor', 2, 8);
    for (let nth = 0; results.length < 105; nth += 1) {
      await vi.waitFor(() => batch(nth), { timeout: 30_000 });
      await batch(nth).land();
    }
    expect(batch(1).bodies).toEqual(Array.from({ length: 100 }, () => 'neighbor'));
    const large = results.map(([body]) => body).filter((body) => body !== 'neighbor');
    expect(large).toEqual([...sizes.map((size) => `${size} bytes`), 'its small one']);
  });

  test('with large bodies: the small ones of others go before a checkpoint and after it, also if it fails', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    const next = [promise, Promise.resolve()];
    const checkpoint = vi.fn<() => Promise<void>>(async () => next.shift());
    const { push, writer, batches, batch } = newWriter(undefined, undefined, checkpoint);
    const bodies = () => batches.map((each) => each.bodies.map((body) => body.slice(0, 10)));
    for (const name of ['one', 'two']) push(name.padEnd(3 * 1024 * 1024), 1, 7);
    await settled();
    push('neighbor', 2, 8);
    await batch(0).land();
    expect(bodies()).toEqual([['one       '], ['neighbor']]);
    expect(checkpoint).not.toHaveBeenCalled();
    await batch(1).land();
    expect(checkpoint).toHaveBeenCalledOnce();
    push('another', 2, 8);
    await settled();
    expect(batches).toHaveLength(2);
    reject(new Error('disk I/O error'));
    await settled();
    expect(bodies().slice(2)).toEqual([['another']]);
    await batch(2).land();
    expect(bodies().slice(3)).toEqual([['two       ']]);
    const isOver = vi.fn<() => void>();
    void writer.drain().then(isOver);
    await batch(3).land();
    await settled();
    expect(checkpoint).toHaveBeenCalledTimes(2);
    expect(isOver).toHaveBeenCalledOnce();
  });

  test('does not take the time of other users on storage with a time limit: what waited over 2.5 s fails', async () => {
    let clock = 0;
    const { push, batch, results, writer, writeCaptures } = newWriter(undefined, () => clock, undefined, true);
    push('first');
    await settled();
    for (let nth = 0; nth < 128; nth += 1) push('next', 1, 7);
    push('old', 1, 7);
    clock = 1;
    push('newer', 1, 7);
    clock = 2501;
    await batch(0).land();
    push('neighbor', 2, 8);
    await batch(1).land();
    await vi.waitFor(() => batch(2));
    expect(batch(2).bodies).toEqual(['newer', 'neighbor']);
    await batch(2).land();
    expect(results.filter(([, result]) => result === 'failed')).toEqual([['old', 'failed']]);
    // The rest of 3.5 s, after the oldest capture of each batch has waited.
    expect(writeCaptures.mock.calls.map((call) => call[2])).toEqual([3500, 999, 1000]);
    expect(writer.waitingCount).toBe(0);
  });

  test('takes turns with other users who wait', async () => {
    const { push, batch } = newWriter();
    push('first');
    await settled();
    for (let nth = 0; nth < 2000; nth += 1) push('a', 1, 7);
    for (let nth = 0; nth < 2000; nth += 1) push('b', 2, 8);
    await batch(0).land();
    await batch(1).land();
    const share = (name: string): number => batch(2).bodies.filter((body) => body === name).length;
    expect([share('a'), share('b')]).toEqual([128, 128]);
  });
});
