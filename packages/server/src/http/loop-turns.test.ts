import { expect, test } from 'vitest';
import { LoopTurns } from './loop-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const owner = {};

/** A clock that advances by a millisecond with each look: every piece of work takes a whole turn. */
function slowClock(): () => number {
  let now = 0;
  return () => (now += 1);
}

test('work that takes long starts once per turn of the event loop, in order, and other work runs in between', async () => {
  const turns = new LoopTurns(slowClock());
  const begun: string[] = [];
  for (const name of ['a', 'b', 'c']) turns.run(owner, () => begun.push(name));
  expect(begun).toEqual(['a']);
  await turn();
  expect(begun).toEqual(['a', 'b']);
  turns.run(owner, () => begun.push('d'));
  await turn();
  await turn();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('owners take turns: a busy one does not block another', async () => {
  const turns = new LoopTurns(slowClock());
  const begun: string[] = [];
  const busy = {};
  for (let nth = 0; nth < 1000; nth += 1) turns.run(busy, () => begun.push(`busy ${nth}`));
  turns.run(owner, () => begun.push('other'));
  for (let nth = 0; nth < 3; nth += 1) await turn();
  expect(begun).toEqual(['busy 0', 'busy 1', 'other', 'busy 2']);
});

test('calls go before reads, which keep a share', async () => {
  const turns = new LoopTurns(slowClock());
  const begun: string[] = [];
  for (let nth = 0; nth < 100; nth += 1) turns.runRead(`sender ${nth}`, () => begun.push('read'));
  await turn();
  for (let nth = 0; nth < 8; nth += 1) turns.run(`caller ${nth % 2}`, () => begun.push('call'));
  begun.length = 0;
  for (let nth = 0; nth < 8; nth += 1) await turn();
  expect(begun.filter((piece) => piece === 'call')).toHaveLength(6);
});

test('short work shares a turn, and what it causes in the next tick counts as its time', async () => {
  let now = 0;
  const turns = new LoopTurns(() => now);
  const begun: string[] = [];
  turns.run(owner, () => begun.push('first'));
  for (const name of ['a', 'b']) turns.run(owner, () => begun.push(name));
  turns.run(owner, () => process.nextTick(() => (now += 5)));
  turns.run(owner, () => begun.push('later'));
  await turn();
  expect(begun).toEqual(['first', 'a', 'b']);
  await turn();
  expect(begun).toEqual(['first', 'a', 'b', 'later']);
});

test('what work does after promises counts as its time', async () => {
  let now = 0;
  const turns = new LoopTurns(() => now);
  const begun: string[] = [];
  const call = async (name: string): Promise<void> => {
    await Promise.resolve().then(() => Promise.resolve());
    begun.push(name);
    now += 5;
  };
  for (const name of ['first', 'a', 'b', 'c']) turns.run(owner, () => process.nextTick(() => void call(name)));
  await turn();
  expect(begun).toEqual(['first', 'a']);
  await turn();
  expect(begun).toEqual(['first', 'a', 'b']);
});

test('in long turns, work has half of the time that the rest takes, and 2 ms at most', async () => {
  let now = 0;
  const turns = new LoopTurns(() => now);
  let begun = 0;
  const piece = (): void => {
    begun += 1;
    now += 0.25;
  };
  const inNextTurn = async (restMs: number): Promise<number> => {
    now += restMs;
    begun = 0;
    await turn();
    return begun;
  };
  for (let nth = 0; nth < 100; nth += 1) turns.run({}, piece);
  await turn();
  expect(await inNextTurn(0.5)).toBe(4);
  expect(await inNextTurn(3)).toBe(6);
  expect(await inNextTurn(1000)).toBe(8);
});

test('work alone never waits', async () => {
  const turns = new LoopTurns();
  for (let nth = 0; nth < 3; nth += 1) {
    let begun = false;
    turns.run(owner, () => (begun = true));
    expect(begun).toBe(true);
    await turn();
    await turn();
  }
});

test('work that throws does not stop the others', async () => {
  const turns = new LoopTurns();
  const begun: string[] = [];
  expect(() =>
    turns.run(owner, () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  turns.run(owner, () => begun.push('next'));
  await turn();
  await turn();
  expect(begun).toEqual(['next']);
});
