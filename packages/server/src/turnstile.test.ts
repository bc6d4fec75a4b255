import { expect, test } from 'vitest';
import { Turnstile } from './turnstile.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('one begins in each turn of the loop, in the order of arrival, and other work comes between', async () => {
  const turnstile = new Turnstile();
  const begun: string[] = [];
  for (const name of ['a', 'b', 'c']) turnstile.enter(() => begun.push(name));
  expect(begun).toEqual(['a']);
  await turn();
  expect(begun).toEqual(['a', 'b']);
  turnstile.enter(() => begun.push('d'));
  await turn();
  await turn();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('who comes alone never waits', async () => {
  const turnstile = new Turnstile();
  for (let nth = 0; nth < 3; nth += 1) {
    let begun = false;
    turnstile.enter(() => (begun = true));
    expect(begun).toBe(true);
    await turn();
    await turn();
  }
});

test('one that throws does not close it', async () => {
  const turnstile = new Turnstile();
  const begun: string[] = [];
  expect(() =>
    turnstile.enter(() => {
      throw new Error('no');
    }),
  ).toThrow('no');
  turnstile.enter(() => begun.push('next'));
  await turn();
  await turn();
  expect(begun).toEqual(['next']);
});
