// Simulates power cuts of a server under load and checks that every acknowledged capture is still stored. Needs `strace`.
// `npm run power-cut -- --captures 3000 --cuts 300 --seed 2`. With `--lying-disk`, the disk loses synced data, and the check must fail.
import { createClient } from '@creel/contract';
import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtempDisposable, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { CookieJar } from '../../fixtures/cookie-jar.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { makeDice } from '../../fixtures/dice.ts';
import { answersAt, startProgram } from '../../fixtures/start-program.ts';
import { readArguments } from '../read-arguments.ts';
import { CutDisk, FATES } from './cut-disk.ts';
import { DiskTrace, STRACE } from './disk-trace.ts';

const USAGE = 'Usage: npm run power-cut -- [--captures 1500] [--cuts 150] [--seed 1] [--lying-disk]';
const { values } = readArguments(USAGE, {
  options: {
    captures: { type: 'string', default: '1500' },
    cuts: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    'lying-disk': { type: 'boolean', default: false },
  },
});
const SENDERS = 6;
const SERVER = join(import.meta.dirname, '..', '..', 'packages', 'server', 'src', 'main.ts');

/** Runs a server under `strace`, sends captures to it and kills it. Returns the path of the trace. */
async function record(folder: string, dataDir: string, count: number): Promise<string> {
  const trace = join(folder, 'trace.txt');
  const port = await freePort();
  const env = {
    ...process.env,
    PORT: String(port),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    DEFAULT_TIER: 'PREMIUM',
    // Trimmed captures would count as lost.
    MAX_UNSAVED_PER_ENDPOINT: String(count),
  };
  const origin = `http://127.0.0.1:${port}`;
  const traced = await startProgram('strace', [...STRACE, '-o', trace, process.execPath, SERVER], {
    env,
    isGroup: true,
    isReady: answersAt(`${origin}/readyz`),
  });
  try {
    const url = await endpointOf(origin);
    let sent = 0;
    const send = async (): Promise<void> => {
      while (sent < count) {
        const nth = sent++;
        const body = `${nth}:${'x'.repeat((nth % 7) * 300)}`;
        const answer = await fetch(url, { method: 'POST', body });
        if (!answer.ok) throw new Error(`A capture was answered with ${answer.status}.`);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
  } finally {
    await traced.kill('SIGKILL');
  }
  return trace;
}

async function endpointOf(origin: string): Promise<string> {
  const client = createClient({ baseUrl: origin, fetch: new CookieJar().fetch });
  await client.call('register', {
    body: { username: 'marta', password: 'power-cut', email: 'marta@example.com' },
  });
  return `${origin}/h/${(await client.call('createEndpoint', { body: {} })).uid}`;
}

/** Returns the indexes of the captures that a server would find in these files. */
async function findIndexes(folder: string, files: ReadonlyMap<string, Buffer>): Promise<ReadonlySet<number>> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [file, bytes] of files)
    if (/creel\.db(?:-wal)?$/.test(file)) await writeFile(join(folder, basename(file)), bytes);
  using database = new DatabaseSync(join(folder, 'creel.db'));
  const verdict = database.prepare('pragma integrity_check').get()?.['integrity_check'];
  if (verdict !== 'ok') throw new Error(`integrity_check says ${String(verdict)}`);
  const rows = database.prepare('select key & 4294967295 as idx from captured_requests').all();
  return new Set(rows.map((row) => Number(row['idx'])));
}

interface Verdict {
  acknowledged: number;
  states: number;
  lost: number;
  broken: number;
}

/** Replays the trace and cuts the power after randomly chosen acknowledgments. */
async function cutAll(trace: string, dataDir: string, folder: string): Promise<Verdict> {
  const { roll } = makeDice(Number(values.seed));
  const disk = new CutDisk(values['lying-disk'] ? 'lies' : 'honest');
  const reader = new DiskTrace(dataDir);
  const acknowledged: number[] = [];
  const verdict = { acknowledged: 0, states: 0, lost: 0, broken: 0 };
  const chance = Number(values.cuts) / Number(values.captures);
  for await (const line of createInterface({ input: createReadStream(trace, 'latin1') })) {
    for (const step of reader.read(line)) {
      disk.take(step);
      if (step.kind !== 'acknowledge') continue;
      acknowledged.push(step.index);
      if (roll() < chance) await cutOnce(disk, roll, acknowledged, join(folder, 'found'), verdict);
    }
  }
  return { ...verdict, acknowledged: acknowledged.length };
}

async function cutOnce(
  disk: CutDisk,
  roll: () => number,
  acknowledged: readonly number[],
  folder: string,
  verdict: Verdict,
): Promise<void> {
  for (const fate of FATES) {
    verdict.states += 1;
    try {
      const found = await findIndexes(folder, disk.cut(fate, roll));
      verdict.lost += acknowledged.filter((index) => !found.has(index)).length;
    } catch (error) {
      verdict.broken += 1;
      process.stdout.write(`After ${acknowledged.length} answers, ${fate} of the rest kept: ${String(error)}\n`);
    }
  }
}

if (spawnSync('strace', ['-V']).status !== 0) {
  process.stderr.write('This needs strace: apt-get install strace.\n');
  process.exit(1);
}
await using folder = await mkdtempDisposable(join(tmpdir(), 'creel-power-cut-'));
const dataDir = join(folder.path, 'data');
const trace = await record(folder.path, dataDir, Number(values.captures));
const { acknowledged, states, lost, broken } = await cutAll(trace, dataDir, folder.path);
process.stdout.write(`${acknowledged} acknowledged, ${states} states after a cut: ${lost} lost, ${broken} broken\n`);
process.exitCode = lost + broken === 0 && acknowledged === Number(values.captures) && states > 0 ? 0 : 1;
