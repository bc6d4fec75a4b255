import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CliError } from './cli-error.ts';
import { cookieHeader, deleteSession, readSession, sessionPath, storeCookies, writeSession } from './session.ts';

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
])('a cookie of the server: %s', (_, line, server, after) => {
  expect(storeCookies({ old: 'x' }, [line], server)).toEqual(after);
});

test('cookies are joined in one header', () => {
  expect(cookieHeader({ a: '1', b: '2' })).toBe('a=1; b=2');
  expect(cookieHeader({})).toBe('');
});

test('a session is stored in a folder that did not exist', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'creel-session-'));
  const session = { server: HTTPS, cookies: { a: '1' } };
  const env = { XDG_CONFIG_HOME: join(home.path, 'a', 'b') };
  await writeSession(env, session);
  await writeSession(env, session);
  expect(await readSession(env)).toEqual(session);
});

test.each(['/proc/creel', '/dev/null'])("a session can't be stored in %s", async (folder) => {
  const failure = writeSession({ XDG_CONFIG_HOME: folder }, { server: HTTPS, cookies: {} });
  await expect(failure).rejects.toThrow(CliError);
});

test.each([{ s: 'a\nb' }, { s: '\u0100' }, { 'a\0b': '1' }])(
  'a file with cookies that no header can have is no session: %j',
  async (cookies) => {
    await using home = await mkdtempDisposable(join(tmpdir(), 'creel-session-'));
    const env = { XDG_CONFIG_HOME: home.path };
    await writeSession(env, { server: HTTPS, cookies });
    await expect(readSession(env)).rejects.toThrow(
      new CliError(`${sessionPath(env)} does not contain a valid session. Log in again with: creel login`),
    );
  },
);

test("the file that can't be read or deleted is named", async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'creel-session-'));
  const env = { XDG_CONFIG_HOME: home.path };
  await deleteSession(env);
  await mkdir(sessionPath(env), { recursive: true });
  await expect(readSession(env)).rejects.toThrow(new CliError(`${sessionPath(env)} can't be read (EISDIR).`));
  await expect(deleteSession(env)).rejects.toThrow(
    new CliError(`${sessionPath(env)} can't be deleted (ERR_FS_EISDIR).`),
  );
});
