import { METHODS } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { unpackCaptures } from '../storage/packed-captures.ts';
import type { CaptureOutcome, CaptureStore } from '../storage/store.ts';
import { CaptureWriter } from './capture-writer.ts';
import type { CaptureResult } from './capture-writer.ts';

const LIMITS = { maxUnsaved: 5, maxSaved: 7 };

interface Batch {
  readonly bodies: readonly string[];
  readonly receivedAt: readonly number[];
  /** Lets storage say that the batch is on disk. */
  readonly land: (change?: (outcome: CaptureOutcome) => void) => Promise<void>;
  readonly fail: () => Promise<void>;
}

/** Lets timers run only when they are told to. */
async function onFakeTime(run: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await run();
  } finally {
    vi.useRealTimers();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A writer over a store that takes batches and says nothing until it is told to. */
function newWriter(now: () => number = () => 1000, elapsed: () => number = () => 0) {
  const batches: Batch[] = [];
  const failures: [unknown, number][] = [];
  let nextIndex = 0;
  const writeCaptures = vi.fn<CaptureStore['writeCaptures']>((packed) => {
    const captures = [...unpackCaptures(packed, METHODS)];
    return new Promise<CaptureOutcome>((resolve, reject) => {
      batches.push({
        bodies: captures.map(({ body }) => Buffer.from(body ?? []).toString()),
        receivedAt: captures.map(({ receivedAt }) => receivedAt),
        async land(change = () => undefined) {
          const indexes = Float64Array.from(captures, () => nextIndex++);
          const outcome = { indexes, savedIds: new Float64Array(captures.length), recycled: packed.bytes.buffer };
          change(outcome);
          resolve(outcome);
          await settled();
        },
        async fail() {
          reject(new Error('disk I/O error'));
          await settled();
        },
      });
    });
  });
  const writer = new CaptureWriter(
    { writeCaptures },
    { limits: LIMITS, now, elapsed, onFailure: (error, count) => failures.push([error, count]) },
  );
  const results: [body: string, result: CaptureResult][] = [];
  const push = (body: string | Buffer, endpointId = 1, userId = 7): boolean => {
    const bytes = Buffer.from(body);
    return writer.push(
      { endpointId, userId, method: 'POST', flatHeaders: [], head: 'text 127.0.0.1\n/', body: bytes },
      (result) => results.push([bytes.length > 20 ? `${bytes.length} bytes` : bytes.toString(), result]),
    );
  };
  const batch = (at: number): Batch => {
    const found = batches[at];
    if (found === undefined) throw new Error(`There is no batch ${at}`);
    return found;
  };
  return { writer, push, results, batches, batch, failures, writeCaptures };
}

const stored = (index: number) => ({ index, savedId: null, receivedAt: 1000 });

describe('an answer', () => {
  test("never comes before the store's promise resolves", async () => {
    const { push, results, batch } = newWriter();
    push('a');
    await settled();
    for (let turn = 0; turn < 20; turn += 1) await settled();
    expect(results).toEqual([]);
    await batch(0).land();
    expect(results).toEqual([['a', stored(0)]]);
  });

  test('comes once', async () => {
    const { push, results, batch } = newWriter();
    push('a');
    await settled();
    await batch(0).land();
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect(results).toHaveLength(1);
  });

  test('is each its own: index, saved id, or gone', async () => {
    const { push, results, batch } = newWriter();
    for (const body of ['a', 'b', 'c']) push(body);
    await settled();
    await batch(0).land((outcome) => {
      outcome.indexes.set([7, -1, 8]);
      outcome.savedIds.set([0, 0, 42]);
    });
    expect(results).toEqual([
      ['a', { index: 7, savedId: null, receivedAt: 1000 }],
      ['b', 'gone'],
      ['c', { index: 8, savedId: 42, receivedAt: 1000 }],
    ]);
  });
});

describe('batches', () => {
  test('what came in one turn of the loop shares one, in order, with the limits', async () => {
    const { push, batches, writeCaptures } = newWriter();
    for (const body of ['a', 'b', 'c']) push(body);
    expect(batches).toHaveLength(0);
    await settled();
    expect(batches.map(({ bodies }) => bodies)).toEqual([['a', 'b', 'c']]);
    expect(writeCaptures.mock.calls[0]?.[1]).toEqual(LIMITS);
  });

  test('what comes while one is under way is gathered, and sent when that one is done', async () => {
    const { push, batch, batches, writer } = newWriter();
    push('a');
    await settled();
    push('b');
    await settled();
    push('c');
    await settled();
    expect(batches).toHaveLength(1);
    expect(writer.waitingCount).toBe(2);
    await batch(0).land();
    expect(batch(1).bodies).toEqual(['b', 'c']);
    expect(writer.waitingCount).toBe(0);
  });

  test('the first who come back wait for half of all, and go with them', async () => {
    const { push, batches, batch } = newWriter();
    await onFakeTime(async () => {
      for (const body of ['a', 'b', 'c', 'd']) push(body);
      await settled();
      await batch(0).land();
      push('e');
      await settled();
      expect(batches).toHaveLength(1);
      push('f');
      push('g');
      expect(batch(1).bodies).toEqual(['e', 'f']);
      await batch(1).land();
      // Three were on their way: two are enough, and one is not.
      expect(batches).toHaveLength(2);
      push('h');
      expect(batch(2).bodies).toEqual(['g', 'h']);
      await batch(2).land();
      vi.runAllTimers();
      expect(batches).toHaveLength(3);
    });
  });

  test('where a batch takes long, all who were on their way share one, and half of them again once it is quick', async () => {
    let clock = 0;
    const { push, batches, batch } = newWriter(undefined, () => clock);
    await onFakeTime(async () => {
      for (const body of ['a', 'b', 'c', 'd']) push(body);
      await settled();
      clock += 40;
      await batch(0).land();
      for (const body of ['e', 'f', 'g']) push(body);
      expect(batches).toHaveLength(1);
      push('h');
      expect(batch(1).bodies).toEqual(['e', 'f', 'g', 'h']);
      // What came meanwhile was on its way too.
      push('i');
      clock += 40;
      await batch(1).land();
      push('j');
      vi.advanceTimersByTime(1);
      expect(batches).toHaveLength(2);
      vi.advanceTimersByTime(2);
      expect(batch(2).bodies).toEqual(['i', 'j']);
      await batch(2).land();
      for (let nth = 3; nth < 60; nth += 1) {
        push('alone');
        vi.runAllTimers();
        await settled();
        await batch(nth).land();
      }
      for (const body of ['k', 'l', 'm', 'n']) push(body);
      await settled();
      await batch(60).land();
      push('o');
      expect(batches).toHaveLength(61);
      push('p');
      expect(batch(61).bodies).toEqual(['o', 'p']);
    });
  });

  test('after storage stood still for a minute nobody is held for longer than 10 ms', async () => {
    let clock = 0;
    const { push, batches, batch } = newWriter(undefined, () => clock);
    await onFakeTime(async () => {
      for (const body of ['a', 'b', 'c', 'd']) push(body);
      await settled();
      clock += 60_000;
      await batch(0).land();
      push('e');
      vi.advanceTimersByTime(9);
      expect(batches).toHaveLength(1);
      vi.advanceTimersByTime(1);
      expect(batch(1).bodies).toEqual(['e']);
    });
  });

  test('nobody waits long for others who do not come', async () => {
    const { push, batches, batch } = newWriter();
    for (const body of ['a', 'b', 'c', 'd']) push(body);
    await settled();
    await batch(0).land();
    push('e');
    await vi.waitFor(() => expect(batches.map(({ bodies }) => bodies)).toEqual([['a', 'b', 'c', 'd'], ['e']]));
    await batch(1).land();
    push('f');
    await settled();
    expect(batch(2).bodies).toEqual(['f']);
  });

  test('the next one is with storage before the senders of the last one are answered', async () => {
    const { writer, batches, batch } = newWriter();
    const seen: number[] = [];
    const capture = { endpointId: 1, userId: 7, method: 'POST', flatHeaders: [], head: 'text 127.0.0.1\n/', body: null };
    writer.push(capture, () => seen.push(batches.length));
    await settled();
    writer.push(capture, () => undefined);
    await batch(0).land();
    expect(seen).toEqual([2]);
  });

  test('times do not go back when the clock does', async () => {
    const times = [5000, 4000, 6000];
    const { push, batch } = newWriter(() => times.shift() ?? 0);
    for (const body of ['a', 'b', 'c']) push(body);
    await settled();
    expect(batch(0).receivedAt).toEqual([5000, 5000, 6000]);
  });

  test('a body and its head come through a buffer that was used before, byte for byte', async () => {
    const { push, batch } = newWriter();
    push('first, and longer than the next');
    await settled();
    await batch(0).land();
    for (const [at, body] of ['short', '', 'x'.repeat(300_000)].entries()) {
      push(body);
      await settled();
      expect(batch(at + 1).bodies).toEqual([body]);
      await batch(at + 1).land();
    }
  });
});

describe('storage fails', () => {
  test('everyone in the batch is told, it is told of once, and the next batch goes on', async () => {
    const { push, results, batch, failures } = newWriter();
    push('a');
    push('b');
    await settled();
    push('c');
    await batch(0).fail();
    expect(results).toEqual([
      ['a', 'failed'],
      ['b', 'failed'],
    ]);
    expect(failures).toEqual([[new Error('disk I/O error'), 2]]);
    await vi.waitFor(() => batch(1));
    await batch(1).land();
    expect(results.at(-1)).toEqual(['c', stored(0)]);
  });

  test('again and again, and then not', async () => {
    const { push, results, batch } = newWriter();
    for (let round = 0; round < 5; round += 1) {
      push(String(round));
      await settled();
      await batch(round).fail();
    }
    push('well');
    await settled();
    await batch(5).land();
    expect(results.map(([, result]) => result)).toEqual(['failed', 'failed', 'failed', 'failed', 'failed', stored(0)]);
  });
});

describe('the queue is bounded', () => {
  test('in requests: one user gets half of it, another one the rest; once there is room it goes on', async () => {
    const { push, writer, batch, results } = newWriter();
    push('first');
    await settled();
    // Storage is stuck: what it was sent does not count, what waits in front of it does.
    const fill = (userId: number): number => {
      let taken = 0;
      while (taken < 100_000 && push('x', 1, userId)) taken += 1;
      return taken;
    };
    const [one, other, third] = [fill(7), fill(8), fill(9)];
    expect([one, other, third]).toEqual([512 + 4096, 512 + 4096, 0]);
    expect(writer.waitingCount).toBe(one + other);
    await batch(0).land();
    await batch(1).land();
    expect(push('late')).toBe(true);
    expect(results.length).toBe(1 + 1024);
  });

  test('in bytes: 64 MiB of one user wait beside a batch, not more', async () => {
    const { push } = newWriter();
    push('first');
    await settled();
    const megabyte = Buffer.alloc(1024 * 1024 - 16);
    let taken = 0;
    while (taken < 1000 && push(megabyte)) taken += 1;
    expect(taken).toBe(8 + 64);
    expect(push(Buffer.alloc(10))).toBe(false);
    expect(push(Buffer.alloc(10), 1, 8)).toBe(true);
  });

  test('one that is larger than a batch is taken when it is alone', async () => {
    const { push, batch, results } = newWriter();
    expect(push(Buffer.alloc(129 * 1024 * 1024))).toBe(true);
    expect(push(Buffer.alloc(129 * 1024 * 1024))).toBe(false);
    expect(push('x')).toBe(true);
    await settled();
    await batch(0).land();
    await batch(1).land();
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
    expect(batch(1).bodies).toHaveLength(513);
    expect(batch(1).bodies.at(-1)).toBe('neighbor');
    for (let nth = 1; results.length < 3002; nth += 1) {
      await vi.waitFor(() => batch(nth));
      await batch(nth).land();
    }
    const own = results.map(([body]) => body).filter((body) => /^\d+$/.test(body));
    expect(own).toEqual(Array.from({ length: 3000 }, (_, nth) => String(nth)));
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
    expect([share('a'), share('b')]).toEqual([256, 256]);
  });
});

describe('drain', () => {
  /** Whether a promise has been resolved by now. */
  function watch(promise: Promise<void>) {
    let over = false;
    void promise.then(() => (over = true));
    return () => over;
  }

  test('is over at once where there is nothing', async () => {
    await newWriter().writer.drain();
    expect(newWriter().writer.waitingCount).toBe(0);
  });

  test('waits for what is under way and for what waits, failed or not', async () => {
    const { push, writer, batch, results } = newWriter();
    push('a');
    await settled();
    push('b');
    const [one, two] = [watch(writer.drain()), watch(writer.drain())];
    await batch(0).fail();
    expect([one(), two()]).toEqual([false, false]);
    await batch(1).land();
    expect([one(), two()]).toEqual([true, true]);
    expect(results.map(([body]) => body)).toEqual(['a', 'b']);
  });

  test('waits for what was pushed in this very turn', async () => {
    const { push, writer, batch } = newWriter();
    push('a');
    const over = watch(writer.drain());
    await settled();
    expect(over()).toBe(false);
    await batch(0).land();
    expect(over()).toBe(true);
  });
});
