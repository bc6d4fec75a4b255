import { defaultStringifySearch } from '@tanstack/react-router';
import { expect, test } from 'vitest';
import { ownPath, parseSearch, returnPath, completeUrl } from './urls.ts';

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

test.each([
  ['localhost:4000/x', 'http://localhost:4000/x'],
  [' localhost ', 'http://localhost'],
  ['127.0.0.1/a?b=c', 'http://127.0.0.1/a?b=c'],
  ['[::1]:80', 'http://[::1]:80'],
  ['app:3000/hooks', 'http://app:3000/hooks'],
  ['hooks.shop.test/a', 'https://hooks.shop.test/a'],
  ['https://shop.test', 'https://shop.test'],
  ['HTTP://shop.test', 'HTTP://shop.test'],
  ['nowhere', 'nowhere'],
  ['/hooks', '/hooks'],
  ['mailto:a@b.test', 'mailto:a@b.test'],
  ['me:secret@shop.test', 'me:secret@shop.test'],
  ['', ''],
])('%j is completed to %j', (text, url) => expect(completeUrl(text)).toBe(url));

test.each([
  ['?q=9007199254740993', '9007199254740993'],
  ['?q=1.50', '1.50'],
  ['?q=1e3', '1e3'],
  ['?q=%7B%22a%22%3A1%7D', '{"a":1}'],
  ['?q=null', 'null'],
  ['?q=a+b', 'a b'],
  ['?q=%22two+words%22', '"two words"'],
  ['?q=%22"', '""'],
  ['?q=12', 12],
])('the parameter of %s is read as it is written', (search, q) => {
  expect(parseSearch(search)).toEqual({ q });
});

test.each(['9007199254740993', '12', 'null', '"two words"', '{"a":1}', 'a b'])(
  'a parameter that the router has written is read again: %s',
  (q) => {
    expect(parseSearch(defaultStringifySearch({ q }))).toEqual({ q });
  },
);
