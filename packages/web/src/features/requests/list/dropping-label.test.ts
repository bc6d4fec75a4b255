import { expect, test } from 'vitest';
import { droppingLabel } from './dropping-label.ts';

const endpoint = (stats: object, autosave: 'true' | 'false' = 'false') => ({
  autosave,
  stats: {
    total: 1000,
    byMethod: {},
    averageSize: 0,
    saved: 0,
    maxSaved: 10_000,
    captured: 1500,
    dropped: 500,
    maxUnsaved: 1000,
    ...stats,
  },
});
const KEPT = 'The newest 1,000 unsaved requests are kept.';

test.each([
  ['dropped', {}, `${KEPT} 500 older ones were dropped.`],
  ['one dropped', { dropped: 1 }, `${KEPT} 1 older one was dropped.`],
  ['nearly full', { dropped: 0, total: 900 }, KEPT],
  ['room left', { dropped: 0, total: 899 }, undefined],
  ['saved ones take no room', { dropped: 0, total: 1000, saved: 200 }, undefined],
  ['nothing unsaved is left', { total: 10, saved: 10 }, undefined],
])('with autosave off: %s', (_, stats, label) => {
  expect(droppingLabel(endpoint(stats))).toBe(label);
});

test('autosave keeps everything until it is full', () => {
  expect(droppingLabel(endpoint({}, 'true'))).toBeUndefined();
  expect(droppingLabel(endpoint({ saved: 10_000, total: 11_000 }, 'true'))).toContain('500 older ones');
});
