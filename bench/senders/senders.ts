import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { metricOf } from '../../packages/server/test/metric.ts';
import { Programs, startCreel } from '../server-under-test.ts';
import type { MeasuredCreel } from '../server-under-test.ts';
import { startNginx } from './nginx.ts';
import type { NginxUpstream } from './nginx.ts';

const run = promisify(execFile);

const COUNT = 50;
/** A usual webhook, and one whose body arrives in several reads. */
const SIZES = [1024, 100 * 1024] as const;
const SEND_MS = 60_000;

interface Sender {
  readonly name: string;
  /** Prints the version, and fails if the sender is not installed. */
  readonly version: readonly string[];
  readonly command: (url: string, count: number, bytes: number) => readonly string[] | Promise<readonly string[]>;
  readonly through?: NginxUpstream;
}

const program = (name: string): string => join(import.meta.dirname, name);
const sized =
  (...words: string[]): Sender['command'] =>
  (url, count, bytes) => [...words, url, String(count), String(bytes)];

/** One curl for all captures, which keeps the connection. */
const curl =
  (folder: string): Sender['command'] =>
  async (url, count, bytes) => {
    const body = join(folder, 'body.json');
    await writeFile(body, JSON.stringify({ data: 'x'.repeat(bytes) }));
    const urls = Array.from({ length: count }, () => url);
    return ['curl', '-sSf', '-H', 'Content-Type: application/json', '--data-binary', `@${body}`, ...urls];
  };

const java = (version: string): Sender => ({
  name: `Java HttpClient, ${version}`,
  version: ['java', '--version'],
  command: (url, count, bytes) => ['java', program('Send.java'), url, String(count), String(bytes), version],
});

const senders = (folder: string): readonly Sender[] => [
  { name: 'curl', version: ['curl', '--version'], command: curl(folder) },
  {
    name: 'Node fetch',
    version: [process.execPath, '--version'],
    command: sized(process.execPath, program('send-fetch.ts')),
  },
  {
    name: 'Python requests',
    version: ['python3', '-c', 'import requests; print(requests.__version__)'],
    command: sized('python3', program('send-requests.py')),
  },
  {
    name: 'Python http.client',
    version: ['python3', '--version'],
    command: sized('python3', program('send-http-client.py')),
  },
  java('HTTP_1_1'),
  java('HTTP_2'),
  { name: 'Go net/http', version: ['go', 'version'], command: sized('go', 'run', program('send.go')) },
  { name: 'curl through nginx', version: ['nginx', '-v'], command: curl(folder), through: 'default' },
  { name: 'curl through nginx, keep-alive', version: ['nginx', '-v'], command: curl(folder), through: 'keep-alive' },
];

/** Runs a command. @throws Error with its output if it fails, or if it takes too long */
async function execute([file = '', ...args]: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(file, args, { timeout: SEND_MS, maxBuffer: 16 * 1024 * 1024 });
  return stdout || stderr;
}

/** The part of the output that is a version number, or `undefined` if the sender is not installed. */
async function installedVersion(sender: Sender): Promise<string | undefined> {
  const output = await execute(sender.version).catch(() => undefined);
  return output === undefined ? undefined : (/\d+(?:\.\d+)+/.exec(output)?.[0] ?? '');
}

interface Reads {
  readonly plain: number;
  readonly parser: number;
}

async function countReads(creel: MeasuredCreel): Promise<Reads> {
  const count = (reader: string) => metricOf(creel.origin, `creel_captures_read_total{reader="${reader}"}`);
  return { plain: await count('plain'), parser: await count('parser') };
}

/** Sends captures of one size. Returns the share that the plain reader read. @throws Error if the server counted a different number */
async function plainShare(creel: MeasuredCreel, sender: Sender, bytes: number): Promise<number> {
  await using programs = new Programs();
  const { port } = sender.through === undefined ? creel : programs.keep(await startNginx(creel.port, sender.through));
  const url = `http://127.0.0.1:${port}/h/${creel.uid}`;
  const before = await countReads(creel);
  await execute(await sender.command(url, COUNT, bytes));
  const after = await countReads(creel);
  const plain = after.plain - before.plain;
  const total = plain + after.parser - before.parser;
  if (total !== COUNT) throw new Error(`The server counted ${total} captures of ${sender.name} instead of ${COUNT}.`);
  return plain / total;
}

/** A Markdown table: for each installed sender, the share of its captures that was read without Node's parser (decision 0014). */
export async function senderTable(): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'creel-senders-'));
  await using programs = new Programs();
  const creel = programs.keep(await startCreel('senders'));
  const lines: string[] = [];
  for (const sender of senders(folder.path)) {
    const version = await installedVersion(sender);
    const shares: string[] = [];
    for (const bytes of SIZES)
      shares.push(version === undefined ? '' : `${Math.round(100 * (await plainShare(creel, sender, bytes)))}%`);
    lines.push(`| ${[sender.name, version ?? 'not installed', ...shares].join(' | ')} |`);
  }
  return [
    `| ${COUNT} captures each, read without Node's parser | version | 1 KiB | 100 KiB |`,
    '| --- | --- | ---: | ---: |',
    ...lines,
  ].join('\n');
}
