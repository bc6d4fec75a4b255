import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { freeBytes } from './body-buffer.ts';
import { linger, readBody } from './read-body.ts';
import type { BodyResult } from './read-body.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A body that is read as it arrives. */
function reading(limit: number, budget = new MemoryBudget({ bytes: 1_000_000 }), parts = Infinity) {
  const request = new IncomingMessage(new Socket());
  const results: BodyResult[] = [];
  const reservation = budget.reserve('sender');
  readBody(request, { bytes: limit, parts }, reservation, (result) => results.push(result));
  const send = async (...pieces: string[]): Promise<void> => {
    for (const piece of pieces) request.push(Buffer.from(piece));
    await settled();
  };
  return {
    request,
    budget,
    results,
    send,
    async end() {
      request.complete = true;
      request.push(null);
      await settled();
    },
    async hangUp() {
      request.destroy();
      await settled();
    },
  };
}

describe('readBody', () => {
  test.each<[string, string[], string]>([
    ['in one piece', ['hello'], 'hello'],
    ['in several', ['he', 'l', 'lo'], 'hello'],
    ['to the last byte of the limit', ['12345', '67890'], '1234567890'],
  ])('%s', async (_what, pieces, body) => {
    const { send, end, results, budget } = reading(10);
    await send(...pieces);
    expect(results).toEqual([]);
    await end();
    expect(results).toEqual([Buffer.from(body)]);
    expect(budget.used).toBe(body.length);
  });

  test('zero bytes are no body', async () => {
    const { end, results, budget } = reading(10);
    await end();
    expect(results).toEqual([null]);
    expect(budget.used).toBe(0);
  });

  test('one byte over the limit: reported at once, nothing stays counted, the rest is discarded', async () => {
    const { send, end, results, budget, request } = reading(10);
    await send('12345', '678901');
    expect(results).toEqual(['too-large']);
    expect(budget.used).toBe(0);
    await send('x'.repeat(1000));
    await end();
    expect(results).toHaveLength(1);
    expect([budget.used, request.readableLength]).toEqual([0, 0]);
  });

  test('no memory: reported, and its reservation is released', async () => {
    const budget = new MemoryBudget({ bytes: 10 });
    budget.reserve('another').grow(4);
    const { send, results } = reading(100, budget);
    await send('12345');
    expect(budget.used).toBe(9);
    await send('67');
    expect(results).toEqual(['no-memory']);
    expect(budget.used).toBe(4);
  });

  test('the sender leaves: reported, and nothing stays counted', async () => {
    const { send, hangUp, results, budget } = reading(100);
    await send('12345');
    await hangUp();
    expect(results).toEqual(['cut-off']);
    expect(budget.used).toBe(0);
  });

  test('leaving after the end changes nothing', async () => {
    const { send, end, hangUp, results, budget } = reading(100);
    await send('12345');
    await end();
    await hangUp();
    expect(results).toEqual([Buffer.from('12345')]);
    expect(budget.used).toBe(5);
  });

  test('more parts than allowed: rejected, and nothing is held', async () => {
    const { send, results, budget } = reading(100, undefined, 2);
    await send('a', 'b');
    expect([results, budget.used]).toEqual([[], 2]);
    await send('c');
    expect([results, budget.used]).toEqual([['too-many-parts'], 0]);
  });

  test('a hundred parallel bodies never exceed the budget', async () => {
    const budget = new MemoryBudget({ bytes: 1000 });
    const bodies = Array.from({ length: 100 }, () => reading(100, budget));
    await Promise.all(bodies.map(({ send }) => send('x'.repeat(60))));
    expect(budget.used).toBeLessThanOrEqual(1000);
    const refused = bodies.filter(({ results }) => results[0] === 'no-memory');
    expect(refused).toHaveLength(100 - 16);
    await Promise.all(bodies.map(({ hangUp }) => hangUp()));
    expect(budget.used).toBe(0);
  });
});

test('of a rejected sender at most 64 MiB are read, although the connection frees what it has read', async () => {
  const sender = new Readable({ read: () => undefined });
  sender.on('data', freeBytes);
  let isOver = false;
  linger(sender, () => (isOver = true));
  for (let sent = 0; sent < 64; sent += 1) {
    expect(isOver).toBe(false);
    sender.push(Buffer.allocUnsafeSlow(1024 * 1024));
    await settled();
  }
  expect(isOver).toBe(true);
});
