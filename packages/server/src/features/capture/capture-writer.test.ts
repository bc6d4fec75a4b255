import { describe, expect, test, vi } from 'vitest';
import { LIMITS, newWriter, settled, stored } from '../../../test/capture-batches.ts';

async function onFakeTime(run: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await run();
  } finally {
    vi.useRealTimers();
  }
}

describe('a response', () => {
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

  test('has its own result: index, saved id, or deleted endpoint', async () => {
    const { push, results, batch } = newWriter();
    for (const body of ['a', 'b', 'c']) push(body);
    await settled();
    await batch(0).land((outcome) => {
      outcome.indexes.set([7, -1, 8]);
      outcome.savedIds.set([0, 0, 42]);
    });
    expect(results).toEqual([
      ['a', { index: 7, savedId: null, receivedAt: 1000 }],
      ['b', 'notFound'],
      ['c', { index: 8, savedId: 42, receivedAt: 1000 }],
    ]);
  });
});

describe('batches', () => {
  test('captures of one turn of the event loop share one, in order, with the limits', async () => {
    const { push, batches, writeCaptures } = newWriter();
    for (const body of ['a', 'b', 'c']) push(body);
    expect(batches).toHaveLength(0);
    await settled();
    expect(batches.map(({ bodies }) => bodies)).toEqual([['a', 'b', 'c']]);
    expect(writeCaptures.mock.calls[0]?.[1]).toEqual(LIMITS);
  });

  test('captures that arrive during one are collected, and sent when it is done', async () => {
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

  test('the first senders that return wait until half of all have, and share a batch', async () => {
    const { push, batches, batch } = newWriter();
    await onFakeTime(async () => {
      for (const body of 'abcdefgh') push(body);
      await settled();
      await batch(0).land();
      for (const body of 'ijk') push(body);
      await settled();
      expect(batches).toHaveLength(1);
      for (const body of 'lmn') push(body);
      expect(batch(1).bodies).toEqual(['i', 'j', 'k', 'l']);
      await batch(1).land();
      // Six were in flight: three are enough, and two are not.
      expect(batches).toHaveLength(2);
      push('o');
      expect(batch(2).bodies).toEqual(['m', 'n', 'o']);
      await batch(2).land();
      vi.runAllTimers();
      expect(batches).toHaveLength(3);
    });
  });

  test('a slow batch is followed by one with all senders, a fast one by one with half of them', async () => {
    let clock = 0;
    const { push, batches, batch } = newWriter(undefined, () => clock);
    await onFakeTime(async () => {
      for (const body of 'abcdef') push(body);
      await settled();
      clock += 40;
      await batch(0).land();
      for (const body of 'ghijk') push(body);
      expect(batches).toHaveLength(1);
      push('l');
      expect(batch(1).bodies).toEqual(['g', 'h', 'i', 'j', 'k', 'l']);
      // Captures that arrived meanwhile were in flight too.
      push('m');
      clock += 40;
      await batch(1).land();
      push('n');
      vi.advanceTimersByTime(1);
      expect(batches).toHaveLength(2);
      vi.advanceTimersByTime(2);
      expect(batch(2).bodies).toEqual(['m', 'n']);
      await batch(2).land();
      for (let nth = 3; nth < 60; nth += 1) {
        push('alone');
        vi.runAllTimers();
        await settled();
        await batch(nth).land();
      }
      for (const body of 'abcdef') push(body);
      await settled();
      await batch(60).land();
      for (const body of 'gh') push(body);
      expect(batches).toHaveLength(61);
      push('i');
      expect(batch(61).bodies).toEqual(['g', 'h', 'i']);
    });
  });

  test('after storage stopped for a minute no capture is delayed longer than 10 ms', async () => {
    let clock = 0;
    const { push, batches, batch } = newWriter(undefined, () => clock);
    await onFakeTime(async () => {
      for (const body of 'abcdef') push(body);
      await settled();
      clock += 60_000;
      await batch(0).land();
      push('g');
      vi.advanceTimersByTime(9);
      expect(batches).toHaveLength(1);
      vi.advanceTimersByTime(1);
      expect(batch(1).bodies).toEqual(['g']);
    });
  });

  test('captures do not wait long for senders that do not return', async () => {
    const { push, batches, batch } = newWriter();
    for (const body of 'abcdef') push(body);
    await settled();
    await batch(0).land();
    push('g');
    await vi.waitFor(
      () => expect(batches.map(({ bodies }) => bodies)).toEqual([['a', 'b', 'c', 'd', 'e', 'f'], ['g']]),
      {
        timeout: 30_000,
      },
    );
    await batch(1).land();
    push('h');
    await settled();
    expect(batch(2).bodies).toEqual(['h']);
  });

  test('storage gets the next one before the senders of the last one are answered', async () => {
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

  test('a capture has its own time, also after the clock was set back', async () => {
    const times = [5000, 4000, 6000];
    const { push, batch } = newWriter(() => times.shift() ?? 0);
    for (const body of ['a', 'b', 'c']) push(body);
    await settled();
    expect(batch(0).receivedAt).toEqual([5000, 4000, 6000]);
  });

  test('a body and its head pass through a reused buffer unchanged', async () => {
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
  test('all senders of the batch get an answer, the failure is reported once, and the next batch proceeds', async () => {
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
    expect(failures).toEqual([new Error('disk I/O error')]);
    await vi.waitFor(() => batch(1), { timeout: 30_000 });
    await batch(1).land();
    expect(results.at(-1)).toEqual(['c', stored(0)]);
  });

  test('repeatedly, then succeeds', async () => {
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
  /** Whether a promise has resolved. */
  function watch(promise: Promise<void>) {
    let over = false;
    void promise.then(() => (over = true));
    return () => over;
  }

  test('resolves at once when nothing waits', async () => {
    const over = watch(newWriter().writer.drain());
    await settled();
    expect(over()).toBe(true);
  });

  test('waits for the running batch and for waiting captures, failed or not', async () => {
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

  test('waits for captures that were pushed in the same turn', async () => {
    const { push, writer, batch } = newWriter();
    push('a');
    const over = watch(writer.drain());
    await settled();
    expect(over()).toBe(false);
    await batch(0).land();
    expect(over()).toBe(true);
  });
});
