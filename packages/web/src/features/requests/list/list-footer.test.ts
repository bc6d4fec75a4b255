import { expect, test } from 'vitest';
import { invalidMessagesWarning, droppingWarning, savedCapacityWarning } from './list-footer.tsx';

const endpoint = (
  { requestCount = 1000, ...retention }: { readonly requestCount?: number; readonly [figure: string]: number },
  autosave: 'true' | 'false' = 'false',
) => ({
  autosave,
  requestCount,
  retention: {
    saved: 0,
    maxSaved: 10_000,
    captured: 1500,
    dropped: 500,
    maxUnsaved: 1000,
    newestIndex: 1499,
    ...retention,
  },
});
const rule = 'The newest 1,000 unsaved requests are kept.';

test.each([
  ['dropped', {}, { rule, count: '500 older ones were dropped.' }],
  ['one dropped', { dropped: 1 }, { rule, count: '1 older one was dropped.' }],
  ['nearly full', { dropped: 0, requestCount: 900 }, { rule, count: '' }],
  ['room left', { dropped: 0, requestCount: 899 }, undefined],
  ['saved ones take no room', { dropped: 0, requestCount: 1000, saved: 200 }, undefined],
  ['nothing unsaved is left', { requestCount: 10, saved: 10 }, undefined],
])('with autosave off: %s', (_, figures, label) => {
  expect(droppingWarning(endpoint(figures))).toEqual(label);
});

test('autosave keeps everything until it is full', () => {
  expect(droppingWarning(endpoint({}, 'true'))).toBeUndefined();
  expect(droppingWarning(endpoint({ saved: 10_000, requestCount: 11_000 }, 'true'))?.count).toContain('500 older ones');
});

test('only a full endpoint explains why nothing more is saved', () => {
  expect(savedCapacityWarning(endpoint({ saved: 10_000 }, 'true'))).toMatch(/10,000 saved requests.* kept unsaved/);
  expect(savedCapacityWarning(endpoint({ saved: 10_000 }))).toMatch(/10,000 saved requests.* to save others/);
  expect(savedCapacityWarning(endpoint({ saved: 9_999 }, 'true'))).toBeUndefined();
  expect(savedCapacityWarning(endpoint({ saved: 9_999 }))).toBeUndefined();
});

test('invalid live messages are counted', () => {
  expect([0, 1, 2].map(invalidMessagesWarning)).toEqual([
    undefined,
    'One live message was invalid and could not be shown. Reload the page to see everything.',
    '2 live messages were invalid and could not be shown. Reload the page to see everything.',
  ]);
});
