import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { CliProblem } from './cli-problem.ts';
import type { Cookies } from './cookies.ts';
import type { Terminal } from './terminal.ts';

/** Where the person is signed in. One at a time: the cookies go to this server and no other. */
export interface StoredSession {
  /** Origin of the server. */
  readonly server: string;
  readonly cookies: Cookies;
}

type Env = Terminal['env'];

/** `session.json` below `$XDG_CONFIG_HOME/creel`, else `~/.config/creel` (XDG Base Directory: a relative path does not count). */
export function sessionPath(env: Env): string {
  const given = env['XDG_CONFIG_HOME'] ?? '';
  return join(isAbsolute(given) ? given : join(env['HOME'] ?? homedir(), '.config'), 'creel', 'session.json');
}

/** @throws CliProblem when there is a file that can't be read */
export async function readSession(env: Env): Promise<StoredSession | undefined> {
  const path = sessionPath(env);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new CliProblem(`${path} can't be read (${codeOf(error)}).`);
  });
  if (text === undefined) return undefined;
  const session = parseSession(text);
  if (session === undefined) throw new CliProblem(`${path} does not hold a session. Sign in again with: creel login`);
  return session;
}

function parseSession(text: string): StoredSession | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('server' in value) || !('cookies' in value)) return undefined;
    const { server, cookies } = value;
    if (typeof server !== 'string' || typeof cookies !== 'object' || cookies === null) return undefined;
    const pairs = Object.entries(cookies).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    return { server: new URL(server).origin, cookies: Object.fromEntries(pairs) };
  } catch {
    return undefined;
  }
}

/** Only the person may read it: whoever has the cookie is the person. Whole or not at all, and never in an older file's mode. */
export async function writeSession(env: Env, session: StoredSession): Promise<void> {
  const path = sessionPath(env);
  const draft = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(draft, 'wx', 0o600);
    await file.writeFile(`${JSON.stringify(session)}\n`).finally(() => file.close());
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw new CliProblem(`${path} can't be written (${codeOf(error)}).`);
  }
}

export async function deleteSession(env: Env): Promise<void> {
  await rm(sessionPath(env), { force: true });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
