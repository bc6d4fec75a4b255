import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliProblem } from './cli-problem.ts';
import type { Terminal } from './terminal.ts';

/** Asks on the terminal, on standard error, so that standard output stays the command's own. @throws CliProblem on Ctrl-C and Ctrl-D */
export function ask(terminal: Terminal, question: string): Promise<string> {
  return answerTo(terminal, question, terminal.stderr);
}

/** The same without showing what is typed. */
export async function askHidden(terminal: Terminal, question: string): Promise<string> {
  terminal.stderr.write(question);
  // readline puts the terminal into raw mode and echoes by itself: its echo goes nowhere.
  const nowhere = new Writable({ write: (_echo, _encoding, done) => done() });
  try {
    return await answerTo(terminal, '', nowhere);
  } finally {
    terminal.stderr.write('\n');
  }
}

async function answerTo({ stdin }: Terminal, question: string, output: Writable): Promise<string> {
  const lines = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const stopped = new Promise<never>((_resolve, reject) => {
    const stop = (): void => reject(new CliProblem('Nothing was changed.'));
    lines.on('SIGINT', stop);
    lines.on('close', stop);
  });
  try {
    return await Promise.race([lines.question(question), stopped]);
  } finally {
    lines.close();
  }
}

/** All of standard input, without the line end that `echo` adds. */
export async function readSecret({ stdin }: Terminal): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stdin) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
