import { parse } from './args.ts';
import type { Invocation } from './args.ts';
import { UsageProblem, sentencesOf } from './cli-problem.ts';
import { body } from './commands/body.ts';
import { create } from './commands/create.ts';
import { endpoints } from './commands/endpoints.ts';
import { follow } from './commands/follow.ts';
import { forward } from './commands/forward.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { replay } from './commands/replay.ts';
import { requests } from './commands/requests.ts';
import { show } from './commands/show.ts';
import { helpOn, helpText } from './help.ts';
import { visible } from './output.ts';
import { write } from './terminal.ts';
import type { Terminal } from './terminal.ts';
import { VERSION } from './version.ts';

/** Done, it did not work, it was not understood. */
export type ExitCode = 0 | 1 | 2;

/** Does what the words behind `creel` say; every failure is told on standard error. Throws what nobody foresaw. */
export async function run(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    const asked = parse(words);
    if (asked.kind === 'version') await write(terminal.stdout, `creel ${VERSION}\n`);
    else if (asked.kind === 'help')
      await write(terminal.stdout, asked.about === undefined ? helpText() : helpOn(asked.about));
    else await execute(asked.invocation, terminal);
    return 0;
  } catch (error) {
    // The reader has seen enough (`creel requests x | head`).
    if (systemCode(error) === 'EPIPE') return 0;
    const sentences = sentencesOf(error) ?? unwritten(error);
    if (sentences === undefined) throw error;
    await write(terminal.stderr, sentences.map((sentence) => `${visible(sentence)}\n`).join('')).catch(() => {});
    return error instanceof UsageProblem ? 2 : 1;
  }
}

async function execute(invocation: Invocation, terminal: Terminal): Promise<void> {
  switch (invocation.command) {
    case 'login':
      return await login(invocation, terminal);
    case 'logout':
      return await logout(invocation, terminal);
    case 'endpoints':
      return await endpoints(invocation, terminal);
    case 'create':
      return await create(invocation, terminal);
    case 'requests':
      return await requests(invocation, terminal);
    case 'follow':
      return await follow(invocation, terminal);
    case 'forward':
      return await forward(invocation, terminal);
    case 'replay':
      return await replay(invocation, terminal);
    case 'show':
      return await show(invocation, terminal);
    case 'body':
      return await body(invocation, terminal);
  }
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** A disk that is full under standard output. Files that commands write themselves have said so already. */
function unwritten(error: unknown): string[] | undefined {
  const code = systemCode(error);
  const isWrite = error instanceof Error && 'syscall' in error && error.syscall === 'write';
  return isWrite && code !== undefined ? [`Standard output can't be written (${code}).`] : undefined;
}
