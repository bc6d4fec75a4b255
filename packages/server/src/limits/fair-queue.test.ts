import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairQueue, QueueFullError, RoundRobin } from './fair-queue.ts';

test('work within the limit runs at once; the rest runs in order, and learns that it waited', async () => {
  const queue = new FairQueue({ concurrency: 2, maxWaiting: 10 });
  const seen: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) => async (waited: boolean) => {
    seen.push(waited ? `${name} waited` : name);
    most = Math.max(most, (running += 1));
    await sleep(1);
    running -= 1;
  };
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => queue.run('one', work(name))));
  expect(seen).toEqual(['a', 'b', 'c waited', 'd waited', 'e waited']);
  expect(most).toBe(2);
});

test('it is bounded: excess work is rejected at once, and the rest runs', async () => {
  const queue = new FairQueue({ concurrency: 1, maxWaiting: 5 });
  const all = await Promise.allSettled(
    Array.from({ length: 10 }, (_, nth) => queue.run('one', () => Promise.resolve(nth))),
  );
  expect(all.slice(0, 6).map((one) => one.status)).toEqual(Array.from({ length: 6 }, () => 'fulfilled'));
  expect(all.slice(6).every((one) => one.status === 'rejected' && one.reason instanceof QueueFullError)).toBe(true);
});

test('failing work ends its turn, and the next one runs', async () => {
  const queue = new FairQueue({ concurrency: 1, maxWaiting: 5 });
  const fails = Array.from({ length: 3 }, () => queue.run('one', () => Promise.reject(new Error('failed'))));
  const follows = queue.run('one', () => Promise.resolve('served'));
  for (const each of await Promise.allSettled(fails)) expect(each).toMatchObject({ status: 'rejected' });
  expect(await follows).toBe('served');
  expect(await queue.run('one', (waited) => Promise.resolve(waited))).toBe(false);
});

test('an owner who asks many times takes turns with the others', async () => {
  const queue = new FairQueue({ concurrency: 1, maxWaiting: 20 });
  const seen: string[] = [];
  const ask = (owner: string) => queue.run(owner, () => Promise.resolve(void seen.push(owner)));
  await Promise.all(['many', 'many', 'many', 'many', 'many', 'one', 'two', 'two'].map(ask));
  expect(seen).toEqual(['many', 'many', 'one', 'two', 'many', 'two', 'many', 'many']);
});

test('no owner fills it: a share is left to others', async () => {
  const queue = new FairQueue({ concurrency: 1, maxWaiting: 10, maxWaitingPerOwner: 5 });
  const ask = (owner: string) => queue.run(owner, () => Promise.resolve(owner));
  const many = Promise.allSettled(Array.from({ length: 50 }, () => ask('many')));
  expect(queue.waitingCount).toBe(5);
  expect(await ask('another')).toBe('another');
  expect((await many).filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
});

test('work that is aborted while waiting never runs, and frees its slot at once', async () => {
  const queue = new FairQueue({ concurrency: 1, maxWaiting: 2 });
  const [first, gone] = [Promise.withResolvers<void>(), new AbortController()];
  const running = queue.run('one', () => first.promise);
  let ran = false;
  const waiting = queue.run('one', async () => void (ran = true), gone.signal);
  const next = queue.run('one', () => Promise.resolve('next'));
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  expect(queue.waitingCount).toBe(1);
  first.resolve();
  await running;
  expect([await next, ran]).toEqual(['next', false]);
  await expect(queue.run('one', () => Promise.resolve(), gone.signal)).rejects.toThrow('gone');
});

test('with limits per owner, an owner waits only for its own work, and only its own queue fills up', async () => {
  const queue = new FairQueue({ concurrencyPerOwner: 1, maxWaitingPerOwner: 1 });
  const [first, seen] = [Promise.withResolvers<void>(), [] as string[]];
  const ask = (owner: string) => queue.run(owner, () => Promise.resolve(void seen.push(owner)));
  const running = queue.run('one', () => first.promise);
  const waiting = ask('one');
  await expect(ask('one')).rejects.toBeInstanceOf(QueueFullError);
  await ask('other');
  expect(seen).toEqual(['other']);
  first.resolve();
  await Promise.all([running, waiting]);
  await ask('one');
  expect(seen).toEqual(['other', 'one', 'one']);
});

test('an owner at its own limit leaves the free slots to others', async () => {
  const queue = new FairQueue({ concurrency: 2, concurrencyPerOwner: 1 });
  const [first, second, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), [] as string[]];
  const ask = (owner: string, until?: Promise<void>) => queue.run(owner, async () => (seen.push(owner), until));
  const all = [ask('many', first.promise), ask('many'), ask('one', second.promise), ask('two')];
  expect(seen).toEqual(['many', 'one']);
  second.resolve();
  await all[3];
  expect(seen).toEqual(['many', 'one', 'two']);
  first.resolve();
  await Promise.all(all);
  expect(seen).toEqual(['many', 'one', 'two', 'many']);
});

test('each owner leaves half of the free slots, so that one is left for the next owner', async () => {
  const queue = new FairQueue({ concurrency: 8, shareOfFree: 1 / 2 });
  const [hang, seen] = [Promise.withResolvers<void>(), [] as string[]];
  const ask = (owner: string, count: number) =>
    Array.from({ length: count }, () => queue.run(owner, async () => (seen.push(owner), hang.promise)));
  const all = [...ask('a', 20), ...ask('b', 20), ...ask('c', 20), ...ask('d', 1)];
  expect(seen).toEqual(['a', 'a', 'a', 'a', 'b', 'b', 'c', 'd']);
  hang.resolve();
  await Promise.all(all);
  expect(seen).toHaveLength(61);
});

/** Work of owners in a queue with ten slots, a half of the free ones for each. `end` ends one that runs. */
function placesWorld() {
  const queue = new FairQueue({ concurrency: 10, shareOfFree: 1 / 2 });
  const running = new Map<string, () => void>();
  const add = (owner: string, slots: number, signal?: AbortSignal): void => {
    const work = () => new Promise<void>((resolve) => running.set(owner, resolve));
    queue.run(owner, work, signal, slots).catch(() => undefined);
  };
  const end = (owner: string): void => {
    running.get(owner)?.();
    running.delete(owner);
  };
  return { add, end, running: () => [...running.keys()].join('') };
}

test('work that needs more slots than are free gets the next free ones, however much small work comes', async () => {
  const { add, end, running } = placesWorld();
  for (const owner of 'abcdefgh') add(owner, 1);
  add('L', 6);
  for (const owner of 'ijk') add(owner, 1);
  expect(running()).toBe('abcdefgh');
  for (const owner of 'abc') end(owner);
  await sleep(0);
  expect(running()).toBe('defgh');
  end('d');
  await sleep(0);
  expect(running()).toBe('efghL');
  add('l', 1);
  end('L');
  await sleep(0);
  expect(running()).toBe('efghijkl');
});

test('work that needs many slots and is aborted leaves the free ones to the others', async () => {
  const { add, running } = placesWorld();
  const gone = new AbortController();
  for (const owner of 'ab') add(owner, 3);
  add('L', 6, gone.signal);
  for (const owner of 'cd') add(owner, 1);
  expect(running()).toBe('ab');
  gone.abort();
  await sleep(0);
  expect(running()).toBe('abcd');
});

test('an owner without a slot gets as many as its work needs, and more within its share', async () => {
  const queue = new FairQueue({ concurrency: 10, shareOfFree: 1 / 5 });
  const [hang, seen] = [Promise.withResolvers<void>(), [] as string[]];
  const ask = (owner: string, slots: number) =>
    queue.run(owner, async () => (seen.push(`${owner}${slots}`), hang.promise), undefined, slots);
  const all = [ask('a', 6), ask('a', 1), ask('b', 1), ask('b', 1), ask('c', 3), ask('d', 1)];
  expect(seen).toEqual(['a6', 'b1', 'c3']);
  hang.resolve();
  await Promise.all(all);
  expect(seen).toEqual(['a6', 'b1', 'c3', 'a1', 'b1', 'd1']);
});

test('owners take turns, each in its own order', () => {
  const queue = new RoundRobin<string, number>();
  for (const nth of [1, 2, 3]) queue.push('a', nth);
  queue.push('b', 10);
  queue.push('c', 20);
  queue.push('b', 11);
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('nobody')]).toEqual([6, 3, 0]);
  expect(Array.from({ length: 7 }, () => queue.shift())).toEqual([1, 10, 20, 2, 11, 3, undefined]);
  expect(queue.size).toBe(0);
});

test('removing and adding in turn keeps the order', () => {
  const queue = new RoundRobin<string, number>();
  const taken: (number | undefined)[] = [];
  for (let nth = 0; nth < 1000; nth += 1) {
    queue.push('a', nth);
    if (nth % 3 !== 0) taken.push(queue.shift());
  }
  while (queue.size > 0) taken.push(queue.shift());
  expect(taken).toEqual(Array.from({ length: 1000 }, (_, nth) => nth));
});

test('an owner whose oldest item does not fit keeps its place and its order', () => {
  const queue = new RoundRobin<string, number>();
  for (const nth of [100, 1]) queue.push('a', nth);
  for (const nth of [10, 11]) queue.push('b', nth);
  const small = (item: number): boolean => item < 50;
  expect([queue.shift(small), queue.shift(small), queue.shift(small)]).toEqual([10, 11, undefined]);
  expect([queue.shift(), queue.shift(small), queue.size]).toEqual([100, 1, 0]);
});
