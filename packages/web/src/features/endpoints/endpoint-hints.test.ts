import { expect, test } from 'vitest';
import { endpointHints } from './endpoint-hints.ts';

const hinted = (isFavorite: 'true' | 'false', autosave: 'true' | 'false') => ({ isFavorite, autosave });
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
