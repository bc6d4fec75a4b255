import { expect, test } from 'vitest';
import { ProblemError } from '../../http/problem.ts';
import { checkPort, parseTarget } from './target.ts';

test.each([
  ['http://h.example', { isSecure: false, host: 'h.example', port: 80, authority: 'h.example', path: '/' }],
  ['https://h.example', { isSecure: true, host: 'h.example', port: 443, authority: 'h.example', path: '/' }],
  ['https://h.example:443/a', { port: 443, authority: 'h.example', path: '/a' }],
  ['HTTP://H.example:8080/A?b#c', { host: 'h.example', port: 8080, authority: 'h.example:8080', path: '/A?b' }],
  ['http://[::1]:3000/x', { host: '::1', port: 3000, authority: '[::1]:3000', path: '/x' }],
  ['http://2130706433:81/', { host: '127.0.0.1', port: 81, authority: '127.0.0.1:81', path: '/' }],
  ['http://h.example?a=b', { path: '/?a=b' }],
  ['http://h.example#a', { path: '/' }],
])('%s', (url, target) => {
  expect(parseTarget(url)).toMatchObject(target);
});

test.each([
  ['dots', 'http://h/a/../b/./c', '/a/../b/./c'],
  ['encoded dots', 'http://h/%2e%2e/a', '/%2e%2e/a'],
  ['odd percent signs', 'http://h/%zz?q=%', '/%zz?q=%'],
  ['quotes, braces and bars', 'http://h/a"b{c}|d`e?f"g\'h', '/a"b{c}|d`e?f"g\'h'],
  ['empty parts', 'http://h//a//?', '//a//?'],
  ['a query that looks like a host', 'http://h?x=http://other/', '/?x=http://other/'],
])('a path is sent as it was written: %s', (_what, url, path) => {
  expect(parseTarget(url).path).toBe(path);
});

test.each([
  ['a space', 'http://h/a b', '/a%20b'],
  ['letters beyond ASCII', 'http://h/ä?ö', '/%C3%A4?%C3%B6'],
  ['a line break, which the standard drops', 'http://h/\r\nX: y', '/X:%20y'],
  ['backslashes, which it turns round', 'http://h\\a', '/a'],
  ['no slashes before the host', 'http:h/a', '/a'],
  ['three of them', 'http:///h/a', '/a'],
])('what can stand in no request line is spelt as URLs are: %s', (_what, url, path) => {
  expect(parseTarget(url)).toMatchObject({ host: 'h', path });
});

test('a decoy before the host never becomes it', () => {
  expect(parseTarget('http://good.example\\@127.0.0.1/')).toMatchObject({ host: 'good.example' });
});

test.each([22, 25, 6379, 11_211])('port %i belongs to another service', (port) => {
  const check = (): void => checkPort(parseTarget(`http://good.example:${port}/`));
  expect(check).toThrow(ProblemError);
  expect(check).toThrow(/port/);
});

test.each([1, 80, 443, 3000, 8080, 65_535])('port %i may be used for HTTP', (port) => {
  expect(() => checkPort(parseTarget(`http://good.example:${port}/`))).not.toThrow();
});
