import { ApiError } from '@creel/contract';
import { z } from 'zod';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand, optionHelp } from '../command.ts';
import { chooseServer, connect, parseServerOrigin } from '../connection.ts';
import { serverOption } from '../options.ts';
import { visible } from '../output.ts';
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
The session is stored in $XDG_CONFIG_HOME/creel/session.json, else ~/.config/creel/session.json. Only you can read it.
An account of a third-party login has no password. Set one with "Forgot your password?" on the login page.`,
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
  if (terminal.stdin.isTTY !== true) {
    if (previous !== undefined) return previous.server;
    throw new UsageError('Name the server: --server or CREEL_URL.');
  }
  const preset = previous?.server ?? DEFAULT_SERVER;
  const typed = (await ask(terminal, `Server [${preset}]: `)).trim();
  return typed === '' ? preset : parseServerOrigin(typed, 'The server');
}

async function askUsername(terminal: Terminal): Promise<string> {
  if (terminal.stdin.isTTY !== true) throw new UsageError('Name the user: --username.');
  return await ask(terminal, 'Username: ');
}

/** Asks without an echo of what the user types. @throws CliError on Ctrl-C and Ctrl-D */
async function askHidden(terminal: Terminal, question: string): Promise<string> {
  // readline sets raw mode and writes the echo itself, so the echo is discarded here.
  const discarded = new Writable({ write: (_echo, _encoding, done) => done() });
  try {
    const line = ask(terminal, '', discarded);
    // After raw mode is set: an answer before it would be shown.
    terminal.stderr.write(question);
    return await line;
  } finally {
    terminal.stderr.write('\n');
  }
}

/** Asks on standard error, because standard output is for the command's result. @throws CliError on Ctrl-C and Ctrl-D */
async function ask({ stdin, stderr }: Terminal, question: string, output: Writable = stderr): Promise<string> {
  const lines = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const canceled = new Promise<never>((_resolve, reject) => {
    const cancel = (): void => reject(new CliError('Nothing was changed.'));
    lines.on('SIGINT', cancel);
    lines.on('close', cancel);
  });
  try {
    return await Promise.race([lines.question(question), canceled]);
  } finally {
    lines.close();
  }
}

/** Reads all of standard input and removes the line end that `echo` adds. */
async function readSecret({ stdin }: Terminal): Promise<string> {
  return (await buffer(stdin)).toString('utf8').replace(/\r?\n$/, '');
}
