import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliError } from './cli-error.ts';
import type { Terminal } from './terminal.ts';

/** Asks on standard error, because standard output is for the command's result. @throws CliError on Ctrl-C and Ctrl-D */
export function ask(terminal: Terminal, question: string): Promise<string> {
  return readLineFrom(terminal, question, terminal.stderr);
}

/** Asks without an echo of what the user types. @throws CliError on Ctrl-C and Ctrl-D */
export async function askHidden(terminal: Terminal, question: string): Promise<string> {
  terminal.stderr.write(question);
  // readline sets raw mode and writes the echo itself, so the echo is discarded here.
  const discarded = new Writable({ write: (_echo, _encoding, done) => done() });
  try {
    return await readLineFrom(terminal, '', discarded);
  } finally {
    terminal.stderr.write('\n');
  }
}

async function readLineFrom({ stdin }: Terminal, question: string, output: Writable): Promise<string> {
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
export async function readSecret({ stdin }: Terminal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
