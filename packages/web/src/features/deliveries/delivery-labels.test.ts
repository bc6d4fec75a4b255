import { expect, test } from 'vitest';
import {
  deletionSentence,
  nextAttemptLabel,
  nextAttemptSentence,
  outcomeLabel,
  stateLabel,
  waitingLabel,
  waitingReason,
} from './delivery-labels.ts';

const NOW = Date.parse('2026-11-22T10:00:00.000Z');

test.each([
  ['2026-11-22T10:00:04.200Z', 'retry in 5 s'],
  ['2026-11-22T10:10:00.000Z', 'retry in 10 min'],
  ['2026-11-22T09:59:59.000Z', 'retry is due'],
])('an attempt planned for %s: %s', (nextAttemptAt, label) => {
  expect(nextAttemptLabel(nextAttemptAt, undefined, NOW)).toBe(label);
});

test('a planned attempt waits while its destination is off or paused', () => {
  const active = { enabled: true, state: { name: 'active' } } as const;
  const paused = { name: 'paused', since: '2026-11-22T10:00:00.000Z', reason: 'r' } as const;
  const at = '2026-11-22T10:00:04.000Z';
  expect(nextAttemptLabel(at, active, NOW)).toBe('retry in 4 s');
  expect(nextAttemptSentence(at, active, NOW)).toContain('is planned for');
  expect(nextAttemptLabel(at, { ...active, enabled: false }, NOW)).toBe('retry waits');
  expect(nextAttemptSentence(at, { ...active, enabled: false }, NOW)).toContain('is off. Turn it on');
  expect(nextAttemptSentence(at, { ...active, state: paused }, NOW)).toContain('is paused. Resume it');
});

test('a destination that is off is not called paused', () => {
  const paused = { name: 'paused', since: '2026-11-22T10:00:00.000Z', reason: 'r' } as const;
  expect(stateLabel({ enabled: true, state: { name: 'active' } }).text).toBe('Active');
  expect(stateLabel({ enabled: true, state: paused }).text).toBe('Paused');
  expect(stateLabel({ enabled: false, state: paused }).text).toBe('Off');
});

test('the share counts 2xx only, and no response is named', () => {
  expect(outcomeLabel([])).toBeUndefined();
  expect(outcomeLabel([200])).toBe('1 attempt so far, latest 200');
  expect(outcomeLabel([200, 302, 500, null])).toBe('25% of the last 4 attempts delivered, latest without a response');
});

test('only a number above 0 waits', () => {
  expect([waitingLabel(0), waitingLabel(1284)]).toEqual([undefined, '1,284 waiting']);
});

test('what waits says why', () => {
  const active = { enabled: true, state: { name: 'active' } } as const;
  const paused = { name: 'paused', since: '2026-11-22T10:00:00.000Z', reason: 'Broken' } as const;
  expect(waitingReason(undefined)).toBe('No attempt has ended yet.');
  expect(waitingReason(active)).toContain('may be slow');
  expect(waitingReason({ ...active, state: paused })).toContain('is paused. Resume it');
  expect(waitingReason({ enabled: false, state: paused })).toContain('is off. Turn it on');
});

test('a deletion says how many deliveries it cancels', () => {
  const [kept, one, many] = [0, 1, 1284].map((pending) => deletionSentence('https://a.example', pending));
  expect(kept).not.toContain('cancel');
  expect(one).toContain('https://a.example. 1 waiting delivery is canceled. The history');
  expect(many).toContain(' 1,284 waiting deliveries are canceled. ');
});
