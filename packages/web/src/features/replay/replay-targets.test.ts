import { expect, test } from 'vitest';
import { ENDPOINTS_KEPT, TARGETS_KEPT, withTarget } from './replay-targets.ts';
import type { ReplayTargets } from './replay-targets.ts';

test('the newest comes first, once, and only so many stay', () => {
  let targets: ReplayTargets = {};
  for (let at = 0; at < TARGETS_KEPT + 2; at++) targets = withTarget(targets, 'a', `http://t.test/${at}`);
  targets = withTarget(targets, 'a', 'http://t.test/5');
  expect(targets['a']).toHaveLength(TARGETS_KEPT);
  expect(new Set(targets['a']).size).toBe(TARGETS_KEPT);
  expect(targets['a']?.slice(0, 2)).toEqual(['http://t.test/5', `http://t.test/${TARGETS_KEPT + 1}`]);
});

test('endpoints have their own; the one that was sent from longest ago is forgotten', () => {
  let targets: ReplayTargets = {};
  for (let at = 0; at < ENDPOINTS_KEPT; at++) targets = withTarget(targets, `uid${at}`, 'http://t.test/');
  targets = withTarget(targets, 'uid0', 'http://again.test/');
  targets = withTarget(targets, 'new', 'http://t.test/');
  expect(Object.keys(targets)).toHaveLength(ENDPOINTS_KEPT);
  expect([targets['uid0']?.length, targets['uid1'], targets['new']?.length]).toEqual([2, undefined, 1]);
});

test('a URL of many kilobytes is not kept', () =>
  expect(withTarget({}, 'a', `http://t.test/${'x'.repeat(3000)}`)).toEqual({}));
