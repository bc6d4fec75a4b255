import { expect, test } from 'vitest';
import { someValueAt } from './json-path.ts';

const numbers = '0,'.repeat(2_000_000);

/** How often a walk yields, with the value that it returns. */
function walk(text: string, ...keys: readonly string[]): { yields: number; isFound: boolean } {
  const path = keys.map((key) => ({ key }));
  const steps = someValueAt(text, path, (raw) => raw === '7');
  for (let yields = 0; ; yields += 1) {
    const { done, value } = steps.next();
    if (done === true) return { yields, isFound: value };
  }
}

test.each([
  ['a long value before it', `{"list":[${numbers}0],"last":7}`, ['last']],
  ['the rest of a long array', `{"list":[1,${numbers}0],"list":[7]}`, ['list', '0']],
  ['a long value at its path', `{"list":[${numbers}0],"list":7}`, ['list']],
])('a search for a JSON value yields within %s', (_, text, keys) => {
  const { yields, isFound } = walk(text, ...keys);
  expect(isFound).toBe(true);
  expect(yields).toBeGreaterThanOrEqual(3);
});

test.each([
  ['[1,[2', ['0']],
  ['{"a":{"b":[7}', ['a', 'b']],
  ['{"a":["', ['b']],
  ['[1,"', ['0']],
])('a search for a JSON value ends at the end of %s', (text, keys) => {
  expect(walk(text, ...keys)).toEqual({ yields: 0, isFound: false });
});
