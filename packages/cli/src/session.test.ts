import { expect, test } from 'vitest';
import { cookieHeader, storeCookies } from './session.ts';

const HTTPS = 'https://a.example';

test.each<[what: string, line: string, server: string, after: Record<string, string>]>([
  ['taken', 's=1=2; Path=/; HttpOnly', HTTPS, { old: 'x', s: '1=2' }],
  ['replaced', 'old=y', HTTPS, { old: 'y' }],
  ['deleted by age', 'old=; Max-Age=0', HTTPS, {}],
  ['deleted by date', 'old=; Expires=Thu, 01 Jan 1970 00:00:00 GMT', HTTPS, {}],
  ['secure over https', 's=1; Secure', HTTPS, { old: 'x', s: '1' }],
  ['secure over plain http: not taken', 's=1; Secure', 'http://a.example', { old: 'x' }],
  ['secure over loopback', 's=1; secure', 'http://127.0.0.1:3000', { old: 'x', s: '1' }],
  ['without a name: not taken', '=1', HTTPS, { old: 'x' }],
])('%s', (_, line, server, after) => {
  expect(storeCookies({ old: 'x' }, [line], server)).toEqual(after);
});

test('are joined in one header', () => {
  expect(cookieHeader({ a: '1', b: '2' })).toBe('a=1; b=2');
  expect(cookieHeader({})).toBe('');
});
