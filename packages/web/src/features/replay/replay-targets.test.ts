import { expect, test } from 'vitest';
import { MAX_ENDPOINTS, MAX_TARGETS, withTarget } from './replay-targets.ts';
import type { ReplayTargets } from './replay-targets.ts';

test('the newest destination is first and unique, and their number is limited', () => {
  let targets: ReplayTargets = {};
  for (let at = 0; at < MAX_TARGETS + 2; at++) targets = withTarget(targets, 'a', `http://t.test/${at}`);
  targets = withTarget(targets, 'a', 'http://t.test/5');
  expect(targets['a']).toHaveLength(MAX_TARGETS);
  expect(new Set(targets['a']).size).toBe(MAX_TARGETS);
  expect(targets['a']?.slice(0, 2)).toEqual(['http://t.test/5', `http://t.test/${MAX_TARGETS + 1}`]);
});

test('destinations are kept per endpoint; the least recently used endpoint is dropped', () => {
  let targets: ReplayTargets = {};
  for (let at = 0; at < MAX_ENDPOINTS; at++) targets = withTarget(targets, `uid${at}`, 'http://t.test/');
  targets = withTarget(targets, 'uid0', 'http://again.test/');
  targets = withTarget(targets, 'new', 'http://t.test/');
  expect(Object.keys(targets)).toHaveLength(MAX_ENDPOINTS);
  expect([targets['uid0']?.length, targets['uid1'], targets['new']?.length]).toEqual([2, undefined, 1]);
});

test('a URL of many kilobytes is not stored', () =>
  expect(withTarget({}, 'a', `http://t.test/${'x'.repeat(3000)}`)).toEqual({}));
