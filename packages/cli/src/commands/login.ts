import { ApiError } from '@creel/contract';
import type { InvocationOf } from '../args.ts';
import { CliProblem, UsageProblem } from '../cli-problem.ts';
import { connect } from '../connection.ts';
import { visible } from '../output.ts';
import { ask, askHidden, readSecret } from '../prompt.ts';
import { chosenServer, serverOrigin } from '../server-url.ts';
import { readSession, writeSession } from '../session-file.ts';
import type { StoredSession } from '../session-file.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

const LOCAL = 'http://127.0.0.1:3000';

/** Signs in, and keeps the session once the server has taken it. */
export async function login(invocation: InvocationOf<'login'>, terminal: Terminal): Promise<void> {
  // A file that can't be read is about to be replaced.
  const before = await readSession(terminal.env).catch(() => undefined);
  const server = chosenServer(invocation.server, terminal.env) ?? (await askServer(terminal, before));
  const username = invocation.username ?? (await askUsername(terminal));
  const password = await (terminal.stdin.isTTY === true ? askHidden(terminal, 'Password: ') : readSecret(terminal));
  // The cookies of before come along: the server ends that session, and knows the program again (contract 4).
  const { client, session } = connect({ server, cookies: before?.server === server ? before.cookies : {} });
  const user = await client.call('login', { body: { username, password } });
  await client.call('getUser', {}).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      throw new CliProblem(`${server} keeps sessions over https only. Sign in at its https address.`);
    throw error;
  });
  await writeSession(terminal.env, session());
  await write(terminal.stdout, `Signed in at ${server} as ${visible(user.username)}.\n`);
}

async function askServer(terminal: Terminal, before: StoredSession | undefined): Promise<string> {
  if (terminal.stdin.isTTY !== true) throw new UsageProblem('Say where to sign in: --server or CREEL_URL.');
  const preset = before?.server ?? LOCAL;
  const typed = (await ask(terminal, `Server [${preset}]: `)).trim();
  return typed === '' ? preset : serverOrigin(typed, 'The server');
}

async function askUsername(terminal: Terminal): Promise<string> {
  if (terminal.stdin.isTTY !== true) throw new UsageProblem('Say who signs in: --username.');
  return await ask(terminal, 'Username: ');
}
