import type { RawHeaders } from '@creel/contract';
import { expect, test } from 'vitest';
import { loopOf, markedHeaders } from './forwarding-loop.ts';

test('a chain of endpoints ends after three, and a circle where it began', () => {
  const passed = (...uids: string[]): RawHeaders => uids.reduce<RawHeaders>(markedHeaders, [['X-A', '1']]);
  expect(loopOf(passed('a', 'b'), 'c')).toBeUndefined();
  expect(loopOf(passed('a', 'b'), 'a')).toMatch(/loop/);
  expect(loopOf(passed('a', 'b', 'c'), 'd')).toMatch(/3 times/);
});

test('the mark stands behind the captured headers, once, and does not show the uid', () => {
  const headers = markedHeaders(
    [
      ['creel-via', 'x'],
      ['Connection', 'creel-via'],
      ['X-A', '1'],
    ],
    'the-uid',
  );
  expect(headers).toEqual([
    ['X-A', '1'],
    ['Creel-Via', expect.stringMatching(/^x, [\w-]{22}$/)],
  ]);
  expect(String(headers)).not.toContain('the-uid');
});
