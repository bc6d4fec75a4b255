import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CookieJar } from '../../../fixtures/cookie-jar.ts';
import { compileCache, serverProgram } from '../../../fixtures/server-program.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { answersAt, startProgram } from '../../../fixtures/start-program.ts';

/** A Creel server in its own process, because the command line uses servers only from outside. */
export interface ServerProcess {
  readonly origin: string;
  readonly port: number;
  /** Stops the server and keeps its data. */
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
}

/** An empty folder and a function that removes it. */
export const temporaryFolder = () => mkdtempDisposable(join(tmpdir(), 'creel-cli-'));

/** Starts a server and waits until it is ready. @throws Error with its output if it does not get ready */
export async function startServer(dataDir: string, givenPort?: number): Promise<ServerProcess> {
  const port = givenPort ?? (await freePort());
  const env = { PORT: String(port), DATA_DIR: dataDir, DEFAULT_TIER: 'PREMIUM', LOG_LEVEL: 'warn' };
  const more = { MAX_UNSAVED_PER_ENDPOINT: '5000', SIGNUPS_PER_HOUR: '100000', ...compileCache };
  const origin = `http://127.0.0.1:${port}`;
  const options = { env: { ...env, ...more }, isReady: answersAt(`${origin}/readyz`) };
  const { kill } = await startProgram(process.execPath, [serverProgram], options);
  return { origin, port, stop: async (signal = 'SIGTERM') => void (await kill(signal)) };
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
  const client = createClient({ baseUrl: origin, fetch: new CookieJar().fetch });
  await client.call('register', { body: { ...person, email: `${person.username}@example.com` } });
  return { ...person, client };
}

/** The same user in another session, for example at a server with the same data. */
export async function logIn(origin: string, { username, password }: Person): Promise<Client> {
  const client = createClient({ baseUrl: origin, fetch: new CookieJar().fetch });
  await client.call('login', { body: { username, password } });
  return client;
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
