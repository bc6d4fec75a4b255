import { ApiError } from '@creel/contract';
import { z } from 'zod';
import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand, optionHelp } from '../command.ts';
import { chooseServer, connect, parseServerOrigin } from '../connection.ts';
import { serverOption } from '../options.ts';
import { visible } from '../output.ts';
import { ask, askHidden, readSecret } from '../prompt.ts';
import { readSession, writeSession } from '../session.ts';
import type { StoredSession } from '../session.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

const DEFAULT_SERVER = 'http://127.0.0.1:3000';

export const command = defineCommand({
  name: 'login',
  summary: 'log in and store the session',
  details: `Asks for missing values. If standard input is not a terminal, the password is read from it:
  creel login --server https://hooks.example.com --username alice < password-file
The session is stored in $XDG_CONFIG_HOME/creel/session.json, else ~/.config/creel/session.json. Only you can read it.`,
  arguments: z.object({}),
  options: z.object({
    server: serverOption,
    username: z.string().optional().register(optionHelp, { value: 'NAME', help: 'username to log in with' }),
  }),
  async run(input, terminal) {
    // An unreadable file does not matter here, because it is replaced.
    const previous = await readSession(terminal.env).catch(() => undefined);
    const server = chooseServer(input.server, terminal.env) ?? (await askServer(terminal, previous));
    const username = input.username ?? (await askUsername(terminal));
    const password = await (terminal.stdin.isTTY === true ? askHidden(terminal, 'Password: ') : readSecret(terminal));
    // With the previous cookies, the server ends that session and recognizes the device.
    const { client, session } = connect({ server, cookies: previous?.server === server ? previous.cookies : {} });
    const user = await client.call('login', { body: { username, password } });
    await client.call('getUser', {}).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401)
        throw new CliError(`${server} accepts sessions only over https. Use its https URL.`);
      throw error;
    });
    await writeSession(terminal.env, session());
    await write(terminal.stdout, `Logged in at ${server} as ${visible(user.username)}.\n`);
  },
});

async function askServer(terminal: Terminal, previous: StoredSession | undefined): Promise<string> {
  if (terminal.stdin.isTTY !== true) throw new UsageError('Name the server: --server or CREEL_URL.');
  const preset = previous?.server ?? DEFAULT_SERVER;
  const typed = (await ask(terminal, `Server [${preset}]: `)).trim();
  return typed === '' ? preset : parseServerOrigin(typed, 'The server');
}

async function askUsername(terminal: Terminal): Promise<string> {
  if (terminal.stdin.isTTY !== true) throw new UsageError('Name the user: --username.');
  return await ask(terminal, 'Username: ');
}
