import { expect, test } from 'vitest';
import { ownPath, returnPath } from './own-path.ts';

test.each([
  ['/endpoints/abc?request=3#x', '/endpoints/abc?request=3#x'],
  ['/search?q=a%26b', '/search?q=a%26b'],
  ['/auth/verify?token=x', '/auth/verify?token=x'],
  ['/', '/'],
])('%s is a place of this site', (next, expected) => {
  expect(ownPath(next)).toBe(expected);
});

test.each([
  undefined,
  '',
  'endpoints/abc',
  'https://evil.example/x',
  '//evil.example/x',
  '/\\evil.example/x',
  '/\t/evil.example/x',
  '\\\\evil.example',
  'javascript:alert(1)',
  '/a/..//evil.example',
  '/auth',
  '/auth?next=/auth',
  '/auth/reset?token=x',
  '/auth/verify/x',
])('%s leads to the dashboard', (next) => {
  expect(ownPath(next)).toBe('/');
});

test('a path that only starts like the login page is allowed', () => {
  expect(ownPath('/authors')).toBe('/authors');
});

test.each([
  [undefined, '/subscription'],
  ['/subscription', '/subscription'],
  ['https://creel.example/profile?tab=subscription', '/profile?tab=subscription'],
  ['https://creel.example.evil.example/x', '/'],
  ['https://evil.example/subscription', '/'],
  ['https://creel.example//evil.example', '/'],
])('the portal leads back from %s to %s', (address, path) => {
  expect(returnPath(address, 'https://creel.example')).toBe(path);
});
