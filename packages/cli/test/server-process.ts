import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileCache } from '../../../fixtures/compile-cache.ts';
import { serverProgram } from '../../../fixtures/server-program.ts';
import { freePort } from '../../../fixtures/free-port.ts';

/** A Creel server in its own process, because the command line uses servers only from outside. */
export interface ServerProcess {
  readonly origin: string;
  readonly port: number;
  /** Stops the server and keeps its data. */
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
}

const START_LIMIT_MS = 50_000;

/** An empty folder and a function that removes it. */
export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'creel-cli-'));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Starts a server and waits until it is ready. @throws Error with its output if it does not get ready */
export async function startServer(dataDir: string, givenPort?: number): Promise<ServerProcess> {
  const port = givenPort ?? (await freePort());
  const env = { PORT: String(port), DATA_DIR: dataDir, DEFAULT_TIER: 'PREMIUM', LOG_LEVEL: 'warn' };
  const more = { MAX_UNSAVED_PER_ENDPOINT: '5000', SIGNUPS_PER_HOUR: '100000', ...compileCache };
  const child = spawn(process.execPath, [serverProgram], {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (piece) => (output += String(piece)));
  child.stderr.on('data', (piece) => (output += String(piece)));
  const origin = `http://127.0.0.1:${port}`;
  const stop: ServerProcess['stop'] = async (signal = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  for (const deadline = Date.now() + START_LIMIT_MS; child.exitCode === null && Date.now() < deadline;) {
    const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return { origin, port, stop };
    await sleep(30);
  }
  await stop('SIGKILL');
  throw new Error(`Creel did not get ready. Its output:\n${output}`);
}

/** A registered user with a session. */
export interface Person {
  readonly username: string;
  readonly password: string;
  readonly client: Client;
}

let people = 0;

export async function register(origin: string): Promise<Person> {
  people += 1;
  const person = { username: `person-${process.pid}-${people}`, password: 'a good password' };
  let cookie = '';
  const client = createClient({
    baseUrl: origin,
    headers: (): Record<string, string> => (cookie === '' ? {} : { cookie }),
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      const lines = answer.headers.getSetCookie();
      if (lines.length > 0) cookie = lines.map((line) => line.split(';')[0]).join('; ');
      return answer;
    },
  });
  await client.call('register', { body: { ...person, email: `${person.username}@example.com` } });
  return { ...person, client };
}

/** Sends a request to a capture URL and waits until it is stored. */
export async function capture(
  url: string,
  body: string | Uint8Array<ArrayBuffer> = 'x',
  init: RequestInit = {},
): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body, ...init });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
  await answer.arrayBuffer();
}
