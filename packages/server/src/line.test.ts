import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Line, LineTooLong } from './line.ts';

const quiet = () => 0;

test('as many as are allowed go at once, the others in the order in which they came, and are told that they waited', async () => {
  const line = new Line({ atOnce: 2, mostWaiting: 10, captures: quiet });
  const seen: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) => async (waited: boolean) => {
    seen.push(waited ? `${name} waited` : name);
    most = Math.max(most, (running += 1));
    await sleep(1);
    running -= 1;
  };
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => line.pass('one', work(name))));
  expect(seen).toEqual(['a', 'b', 'c waited', 'd waited', 'e waited']);
  expect(most).toBe(2);
});

test('the line is bounded: of many at once, those beyond it are turned away and the others are served', async () => {
  const line = new Line({ atOnce: 1, mostWaiting: 10, captures: quiet });
  const all = await Promise.allSettled(
    Array.from({ length: 10 }, (_, nth) => line.pass('one', () => Promise.resolve(nth))),
  );
  expect(all.slice(0, 6).map((one) => one.status)).toEqual(Array.from({ length: 6 }, () => 'fulfilled'));
  expect(all.slice(6).every((one) => one.status === 'rejected' && one.reason instanceof LineTooLong)).toBe(true);
});

test('work that fails ends its own turn, and the next one comes', async () => {
  const line = new Line({ atOnce: 1, mostWaiting: 5, captures: quiet });
  const fails = Array.from({ length: 3 }, () => line.pass('one', () => Promise.reject(new Error('failed'))));
  const follows = line.pass('one', () => Promise.resolve('served'));
  for (const each of await Promise.allSettled(fails)) expect(each).toMatchObject({ status: 'rejected' });
  expect(await follows).toBe('served');
  expect(await line.pass('one', (waited) => Promise.resolve(waited))).toBe(false);
});

test.each([
  { beside: 'captures that come in', captured: 1, rests: true },
  { beside: 'no captures', captured: 0, rests: false },
])('a crowd beside $beside: the line rests between two: $rests', async ({ captured, rests }) => {
  let count = 0;
  const line = new Line({ atOnce: 1, mostWaiting: 5, captures: () => count });
  let endedAt = 0;
  const first = line.pass('one', async () => {
    await sleep(20);
    count += captured;
    endedAt = performance.now();
  });
  const paused = line.pass('one', () => Promise.resolve(performance.now() - endedAt));
  await first;
  // While it rests nobody slips in before those who wait.
  const late = line.pass('one', (waited) => Promise.resolve(waited));
  expect((await paused) >= 50).toBe(rests);
  expect(await late).toBe(true);
});

test('who comes alone is let through at once, however many captures come in', async () => {
  let count = 0;
  const line = new Line({ atOnce: 1, mostWaiting: 5, captures: () => (count += 1) });
  for (let nth = 0; nth < 5; nth += 1) expect(await line.pass('one', (waited) => Promise.resolve(waited))).toBe(false);
});

test('who comes many times takes turns with the others', async () => {
  const line = new Line({ atOnce: 1, mostWaiting: 20 });
  const seen: string[] = [];
  const come = (who: string) => line.pass(who, () => Promise.resolve(void seen.push(who)));
  await Promise.all(['many', 'many', 'many', 'many', 'many', 'one', 'two', 'two'].map(come));
  expect(seen).toEqual(['many', 'many', 'one', 'two', 'many', 'two', 'many', 'many']);
});

test('nobody fills the line for everybody: half of it is left to others', async () => {
  const line = new Line({ atOnce: 1, mostWaiting: 10 });
  const come = (who: string) => line.pass(who, () => Promise.resolve(who));
  const many = Promise.allSettled(Array.from({ length: 50 }, () => come('many')));
  expect(line.waitingCount).toBe(5);
  expect(await come('another')).toBe('another');
  expect((await many).filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
});
