import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { parseJson } from '@creel/contract';
import { z } from 'zod';
import { CliError, codeOf } from './cli-error.ts';
import type { Terminal } from './terminal.ts';

/** `fetch` rejects a header with any other character, and does not say why. */
const headerTextSchema = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/);

/** The user's login: a server's origin and its cookies, which go to this server only. There is one login at a time. */
const storedSessionSchema = z.object({
  server: z.url().transform((url) => new URL(url).origin),
  cookies: z.record(headerTextSchema, headerTextSchema),
});
export type StoredSession = Readonly<z.output<typeof storedSessionSchema>>;

/** A server's cookies: one host, all paths. */
export type Cookies = Readonly<StoredSession['cookies']>;

type Env = Terminal['env'];

/** `session.json` below `$XDG_CONFIG_HOME/creel`, else `~/.config/creel` (the XDG specification ignores a relative path). */
export function sessionPath(env: Env): string {
  const given = env['XDG_CONFIG_HOME'] ?? '';
  return join(isAbsolute(given) ? given : join(env['HOME'] ?? homedir(), '.config'), 'creel', 'session.json');
}

/** Returns `undefined` without a file. @throws CliError for a file that can't be read */
export async function readSession(env: Env): Promise<StoredSession | undefined> {
  const path = sessionPath(env);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new CliError(`${path} can't be read (${codeOf(error)}).`);
  });
  if (text === undefined) return undefined;
  const session = storedSessionSchema.safeParse(parseJson(text)).data;
  if (session === undefined)
    throw new CliError(`${path} does not contain a valid session. Log in again with: creel login`);
  return session;
}

/** Replaces the file atomically. Only the user may read it, whatever the mode of an older file. @throws CliError */
export async function writeSession(env: Env, session: StoredSession): Promise<void> {
  const path = sessionPath(env);
  const draft = `${path}.${randomUUID()}`;
  try {
    await makeFolder(dirname(path));
    const file = await open(draft, 'wx', 0o600);
    await file.writeFile(`${JSON.stringify(session)}\n`).finally(() => file.close());
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw new CliError(`${path} can't be written (${codeOf(error)}).`);
  }
}

/** Not `recursive: true`: Node 26.10 loops forever if a folder can't be created in an existing parent, as in /proc. */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder) || dirname(folder) === folder) return;
  await makeFolder(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

/** @throws CliError, for example in a folder that is read-only */
export async function deleteSession(env: Env): Promise<void> {
  const path = sessionPath(env);
  await rm(path, { force: true }).catch((error: unknown) => {
    throw new CliError(`${path} can't be deleted (${codeOf(error)}).`);
  });
}

/** Value of the `Cookie` header. Empty without cookies. */
export function cookieHeader(cookies: Cookies): string {
  return Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}

/**
 * Applies the `Set-Cookie` lines of a response (RFC 6265, section 5.2). Ignores a `Secure` cookie that came over plain http, except on
 * loopback, because it would be sent back in clear text.
 */
export function storeCookies(cookies: Cookies, lines: readonly string[], server: string): Cookies {
  const next = new Map(Object.entries(cookies));
  for (const line of lines) {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
    if (name === '' || (attributes.some((one) => /^secure$/i.test(one)) && !isSecureTransport(server))) continue;
    if (attributes.some(isExpired)) next.delete(name);
    else next.set(name, value);
  }
  return Object.fromEntries(next);
}

function isExpired(attribute: string): boolean {
  const [key = '', text = ''] = attribute.split(/=(.*)/s, 2);
  return /^max-age$/i.test(key) ? Number(text) <= 0 : /^expires$/i.test(key) && Date.parse(text) < Date.now();
}

function isSecureTransport(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
