import { expect, test } from 'vitest';
import { endpointHints, savedCapacityNotice } from './endpoint-hints.ts';

const hinted = (isFavorite: 'true' | 'false', autosave: 'true' | 'false', saved = 0) => ({
  isFavorite,
  autosave,
  stats: { total: 0, byMethod: {}, averageSize: 0, saved, maxSaved: 10_000, captured: 0, dropped: 0, maxUnsaved: 1000 },
});
const ALWAYS = 'Send HTTP requests to this URL to view them in the dashboard below.';

test('the hints follow the switches', () => {
  expect(endpointHints(hinted('false', 'false'))).toEqual([
    ALWAYS,
    "Autosave is disabled. You'll need to manually save incoming webhook requests.",
  ]);
  expect(endpointHints(hinted('true', 'true'))).toEqual([
    ALWAYS,
    'This endpoint is marked as a favorite and will never expire.',
    'Autosave is enabled. All incoming webhook requests will be automatically saved.',
  ]);
});

test('only a full endpoint explains why autosave has stopped', () => {
  expect(savedCapacityNotice(hinted('false', 'true', 10_000))).toContain('10,000 saved requests');
  expect(savedCapacityNotice(hinted('false', 'true', 9_999))).toBeUndefined();
  expect(savedCapacityNotice(hinted('false', 'false', 10_000))).toBeUndefined();
});
