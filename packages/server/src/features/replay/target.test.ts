import { afterEach, describe, expect, test, vi } from 'vitest';
import { ADDRESS_FORMS } from '../../../test/internal-addresses.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseTarget, isAllowed, limitedPerUser, reachOf, lookUpOnSystem, resolveTarget } from './target.ts';

afterEach(() => {
  vi.useRealTimers();
});

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
  ['backslashes', 'http://h/a\\..\\b?c\\d', '/a\\..\\b?c\\d'],
  ['empty parts', 'http://h//a//?', '//a//?'],
  ['a query that looks like a host', 'http://h?x=http://other/', '/?x=http://other/'],
])('a path is sent as it was written: %s', (_what, url, path) => {
  expect(parseTarget(url).path).toBe(path);
});

test.each([
  ['a space', 'http://h/a b', '/a%20b'],
  ['letters beyond ASCII', 'http://h/ä?ö', '/%C3%A4?%C3%B6'],
  ['a line break, which the standard drops', 'http://h/\r\nX: y', '/X:%20y'],
  ['a backslash after the host, which it turns round', 'http://h\\a', '/a'],
  ['no slashes before the host', 'http:h/a', '/a'],
  ['three of them', 'http:///h/a', '/a'],
])('characters that a request line can not contain are encoded as in URLs: %s', (_what, url, path) => {
  expect(parseTarget(url)).toMatchObject({ host: 'h', path });
});

test('a backslash ends the host', () => {
  expect(parseTarget('http://good.example\\@127.0.0.1/')).toMatchObject({ host: 'good.example' });
});

test.each([22, 25, 6379, 11_211])('port %i belongs to another service', async (port) => {
  const resolved = resolveTarget(parseTarget(`http://good.example:${port}/`), outside(['8.8.8.8']));
  await expect(resolved).rejects.toThrow(ProblemError);
  await expect(resolved).rejects.toThrow(/port/);
});

test.each([1, 80, 443, 3000, 8080, 65_535])('port %i may be used for HTTP', async (port) => {
  expect(await resolveTarget(parseTarget(`http://good.example:${port}/`), outside(['8.8.8.8']))).toEqual(['8.8.8.8']);
});

/** The host of a URL without brackets. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');

describe('the class of an address in any form', () => {
  test.each(ADDRESS_FORMS)('%s: %s', (url, reach) => {
    expect(reachOf(hostOf(url))).toBe(reach);
  });

  test('from outside only the internet is reachable; private targets add only their networks', () => {
    const reached = (allowPrivate: boolean): string[] =>
      ADDRESS_FORMS.filter(([url]) => isAllowed(hostOf(url), allowPrivate)).map(([url]) => url);
    expect(reached(false)).toEqual(ADDRESS_FORMS.filter(([, reach]) => reach === 'public').map(([url]) => url));
    expect(reached(true)).toEqual(ADDRESS_FORMS.filter(([, reach]) => reach !== 'never').map(([url]) => url));
  });
});

test.each(['', 'localhost', 'good.example', '1.2.3', 'fe80::1%eth0', '::ffff:127.0.0.1.'])(
  '%j is no address, and leads nowhere',
  (text) => {
    expect(reachOf(text)).toBe('never');
  },
);

const REFUSED = { code: 'TARGET_NOT_ALLOWED' };
const outside = (answers: readonly string[]) => rulesWith(false, answers);
const inside = (answers: readonly string[]) => rulesWith(true, answers);
const rulesWith = (allowPrivate: boolean, answers: readonly string[]) => ({
  allowPrivate,
  lookUp: () => Promise.resolve(answers),
  userId: 1,
});
const resolveHost = (host: string, rules: Omit<Parameters<typeof resolveTarget>[1], 'userId'>) =>
  resolveTarget({ host, port: 80 }, { userId: 1, ...rules });

test('a name resolves to all its addresses, each checked', async () => {
  expect(await resolveHost('good.example', outside(['8.8.8.8', '2606:4700::1']))).toEqual(['8.8.8.8', '2606:4700::1']);
});

describe('a name with an internal address is rejected, also if its other addresses are public', () => {
  test.each([
    [['127.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['8.8.8.8', '::1']],
    [['::ffff:10.0.0.1']],
    [['169.254.169.254']],
    [['::8.8.8.8']],
    [['8.8.8.8', 'nonsense']],
    [[...Array.from({ length: 999 }, (_, nth) => `8.8.${nth >> 8}.${nth & 255}`), '127.0.0.1']],
  ])('%j', async (answers) => {
    await expect(resolveHost('bad.example', outside(answers))).rejects.toMatchObject(REFUSED);
  });

  test.each([[['8.8.8.8', '169.254.169.254']], [['168.63.129.16']], [['fe80::1']], [['::127.0.0.1']]])(
    '%j, also where private targets are allowed',
    async (answers) => {
      await expect(resolveHost('bad.example', inside(answers))).rejects.toMatchObject(REFUSED);
    },
  );
});

test('where private targets are allowed, a name may lead to one', async () => {
  expect(await resolveHost('web', inside(['10.0.0.7', '::1']))).toEqual(['10.0.0.7', '::1']);
  expect(await resolveHost('localhost', { allowPrivate: true, lookUp: lookUpOnSystem })).toContain('127.0.0.1');
});

test.each(['localhost', 'LOCALHOST.', 'foo.localhost'])('%s is this machine: there is no lookup', async (name) => {
  const lookUp = (): Promise<string[]> => Promise.reject(new Error('asked'));
  await expect(resolveHost(name, { allowPrivate: false, lookUp })).rejects.toMatchObject(REFUSED);
});

test('an address is not looked up', async () => {
  const lookUp = (): Promise<string[]> => Promise.reject(new Error('asked'));
  expect(await resolveHost('8.8.8.8', { allowPrivate: false, lookUp })).toEqual(['8.8.8.8']);
  await expect(resolveHost('::7f00:1', { allowPrivate: false, lookUp })).rejects.toMatchObject(REFUSED);
});

test.each([
  ['has none', () => Promise.resolve([]), /has no address/],
  ['does not exist', () => Promise.reject(new Error('ENOTFOUND')), /could not be found/],
])('a name that %s is reported', async (_what, lookUp, sentence) => {
  await expect(resolveHost('gone.example', { allowPrivate: false, lookUp })).rejects.toMatchObject({
    code: 'REPLAY_FAILED',
    message: expect.stringMatching(sentence),
  });
});

test('a lookup that hangs is reported after five seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const lookUp = (): Promise<string[]> => new Promise(() => undefined);
  const sentences: string[] = [];
  const found = resolveHost('slow.example', { allowPrivate: false, lookUp });
  const reported = found.catch((error: unknown) => sentences.push(String(error)));
  await vi.advanceTimersByTimeAsync(4999);
  expect(sentences).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await reported;
  expect(sentences).toEqual([expect.stringMatching(/The name slow\.example could not be looked up in time\.$/)]);
});

test('names whose lookup hangs delay only the user who asked for them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked: string[] = [];
  const lookUp = limitedPerUser((name) => {
    asked.push(name);
    return name.startsWith('hanging') ? new Promise(() => undefined) : Promise.resolve(['8.8.8.8']);
  });
  const found = async (name: string, userId: number): Promise<string> => {
    const host = { host: name, port: 80 };
    return resolveTarget(host, { allowPrivate: true, lookUp, userId }).then(String, String);
  };
  const hanging = Array.from({ length: 20 }, (_, nth) => found(`hanging-${nth}.example`, 1));
  expect(await found('good.example', 2)).toBe('8.8.8.8');
  await vi.advanceTimersByTimeAsync(5000);
  expect(new Set((await Promise.all(hanging)).map((sentence) => /in time/.test(sentence)))).toEqual(new Set([true]));
  // Those that waited for their turn were given up.
  const first = [0, 1, 2, 3].map((nth) => `hanging-${nth}.example`);
  expect(asked).toEqual([...first, 'good.example']);
});

test('a name whose lookup hangs is looked up once, and delays no other name of the same user', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked: string[] = [];
  const hang = Promise.withResolvers<string[]>();
  const lookUp = limitedPerUser((name) => {
    asked.push(name);
    return name === 'hanging.example' ? hang.promise : Promise.resolve(['8.8.8.8']);
  });
  const rules = { allowPrivate: true, lookUp, userId: 1 };
  const found = (host: string): Promise<string> => resolveTarget({ host, port: 80 }, rules).then(String, String);
  const hanging = Array.from({ length: 20 }, () => found('hanging.example'));
  expect(await found('good.example')).toBe('8.8.8.8');
  hang.resolve(['8.8.4.4']);
  expect(new Set(await Promise.all(hanging))).toEqual(new Set(['8.8.4.4']));
  expect(asked).toEqual(['hanging.example', 'good.example']);
  expect(await found('hanging.example')).toBe('8.8.4.4');
  expect(asked).toHaveLength(3);
});

test('of a thousand addresses a few are tried', async () => {
  const many = Array.from({ length: 1000 }, (_, nth) => `8.8.${nth >> 8}.${nth & 255}`);
  expect(await resolveHost('many.example', outside(many))).toEqual(many.slice(0, 8));
});
