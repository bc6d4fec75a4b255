import { describe, expect, test, vi } from 'vitest';
import { LIMITS, newWriter, settled, stored } from '../../../test/capture-batches.ts';

/** Lets timers run only when they are told to. */
async function onFakeTime(run: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await run();
  } finally {
    vi.useRealTimers();
  }
}

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
    const capture = {
      endpointId: 1,
      userId: 7,
      method: 'POST',
      flatHeaders: [],
      head: 'text 127.0.0.1\n/',
      body: null,
    };
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
