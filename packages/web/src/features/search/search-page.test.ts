import { expect, test } from 'vitest';
import { valueOf, withValue } from './search-page.tsx';

test.each([
  ['', 'method', 'GET', 'method:GET'],
  ['a "b c"', 'method', 'GET', 'a "b c" method:GET'],
  ['method:POST a', 'method', 'GET', 'a method:GET'],
  ['a OR b', 'method', 'GET', '(a OR b) method:GET'],
  ['(method:POST OR a) x', 'method', 'GET', '(method:POST OR a) x method:GET'],
  ['-method:POST', 'method', 'GET', '-method:POST method:GET'],
  ['method:POST a', 'method', '', 'a'],
  ['method:POST', 'method', '', ''],
  ['a after:-1h', 'after', '-1w', 'a after:-1w'],
  ['a (', 'method', 'GET', 'a ('],
] as const)('%s with %s:%s is %s', (text, kind, value, expected) => {
  expect(withValue(text, kind, value)).toBe(expected);
});

test.each([
  ['method:GET,POST a', 'method', 'GET,POST'],
  ['a', 'method', ''],
  ['after:-1h', 'after', '-1h'],
  ['method:GET OR a', 'method', ''],
  ['a (', 'method', ''],
] as const)('%s has the %s %s', (text, kind, value) => expect(valueOf(text, kind)).toBe(value));
