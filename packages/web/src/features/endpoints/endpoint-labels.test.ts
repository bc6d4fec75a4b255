import { endpointTitle, isExpired } from '@creel/contract';
import { expect, test } from 'vitest';
import {
  expiryLine,
  expiryLabel,
  sortEndpoints,
  endpointHints,
  countedEndpoints,
  createBlock,
} from './endpoint-labels.ts';

const now = Date.parse('2026-11-21T12:00:00.000Z');
const lasting = (isFavorite: 'true' | 'false', expiresAt: string | null) => ({ isFavorite, expiresAt });
const LATER = '2026-11-27T12:00:00.000Z';
const SOON = new Date(2026, 10, 22, 18, 30).toISOString();
const EARLIER = '2026-11-20T12:00:00.000Z';

test('an endpoint without a name is shown by the first 8 characters of its uid', () => {
  expect(endpointTitle({ name: null, uid: '9f31c0aaXYZ' })).toBe('webhook/9f31c0aa');
  expect(endpointTitle({ name: 'Stripe billing', uid: 'x' })).toBe('Stripe billing');
});

test.each([
  [lasting('true', null), 'Never expires', 'Never expires (Favorite)'],
  [lasting('true', EARLIER), 'Never expires', 'Never expires (Favorite)'],
  [lasting('false', null), 'No expiration set', 'No expiration set'],
  [lasting('false', LATER), 'Expires Nov 27', 'Expires on Nov 27'],
  [lasting('false', EARLIER), 'Expired', 'Expired on Nov 20'],
  [lasting('false', SOON), 'Expires Nov 22, 18:30', 'Expires on Nov 22, 18:30'],
])('%o reads %s and %s', (endpoint, line, sentence) => {
  expect(expiryLine(endpoint, now)).toBe(line);
  expect(expiryLabel(endpoint, now)).toBe(sentence);
});

test('an endpoint is expired from exactly its expiry time', () => {
  const at = new Date(now).toISOString();
  expect(isExpired(lasting('false', at), now)).toBe(true);
  expect(isExpired(lasting('false', at), now - 1)).toBe(false);
});

test('favorites come first, then the newest', () => {
  const endpoint = (id: number, isFavorite: 'true' | 'false', createdAt: string) => ({ id, isFavorite, createdAt });
  const sorted = sortEndpoints([
    endpoint(1, 'false', EARLIER),
    endpoint(2, 'true', EARLIER),
    endpoint(3, 'false', LATER),
    endpoint(4, 'false', LATER),
  ]);
  expect(sorted.map(({ id }) => id)).toEqual([2, 4, 3, 1]);
});

const hinted = (isFavorite: 'true' | 'false', autosave: 'true' | 'false') => ({ isFavorite, autosave });
const ALWAYS = 'Send HTTP requests to this URL to view them in the dashboard below.';

test('the hints follow the switches', () => {
  expect(endpointHints(hinted('false', 'false'), 'FREE')).toEqual([
    ALWAYS,
    "Autosave is disabled. You'll need to manually save incoming webhook requests.",
    'Upgrade plan for favorites',
  ]);
  expect(endpointHints(hinted('true', 'true'), 'BASIC')).toEqual([
    ALWAYS,
    'This endpoint is marked as a favorite and will never expire.',
    'Autosave is enabled. All incoming webhook requests will be automatically saved.',
  ]);
});

const alive = { isFavorite: 'false', expiresAt: '2026-11-22T00:00:00.000Z' } as const;
const dead = { isFavorite: 'false', expiresAt: '2026-11-20T00:00:00.000Z' } as const;
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test('expired endpoints do not count', () => {
  expect(countedEndpoints([alive, dead, alive], now)).toBe(2);
});

test.each([
  ['FREE', 0, undefined],
  ['FREE', 1, 'Free users can only create one endpoint. Please upgrade for more.'],
  ['BASIC', 4, undefined],
  ['BASIC', 5, 'Basic users can only create five endpoints. Please upgrade for more.'],
  ['PREMIUM', 19, undefined],
  ['PREMIUM', 20, 'Premium users can only create twenty endpoints.'],
] as const)('%s with %i endpoints: %s', (tier, count, sentence) => {
  expect(createBlock(tier, times(count, alive), now)).toBe(sentence);
});

test('before the list is loaded, the server decides', () => {
  expect(createBlock('FREE', undefined, now)).toBeUndefined();
});

test('an expired endpoint does not count against the limit', () => {
  expect(createBlock('FREE', [dead], now)).toBeUndefined();
});
