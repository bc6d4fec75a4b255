import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { metricOf } from '../metric.ts';
import { startServerProcess } from '../server-process.ts';
import { signUp } from '../sign-up.ts';
import { mountSmallDisk } from '../small-disk.ts';

/** Cleanup after a test, last first. */
const undo: (() => unknown)[] = [];
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'creel-log-'));
  undo.push(() => rm(folder, { recursive: true }));
});
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

function opened(path: string, flags: string | number): number {
  const fd = openSync(path, flags);
  undo.push(() => closeSync(fd));
  return fd;
}

/** A named pipe with two non-blocking ends. */
function namedPipe(): { reader: number; writer: number } {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: opened(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

function closedPipe(): number {
  const { reader, writer } = namedPipe();
  closeSync(reader);
  return writer;
}

/** A full pipe without a reader. */
function fullPipe(): number {
  const { reader, writer } = namedPipe();
  undo.push(() => closeSync(reader));
  try {
    while (writeSync(writer, 'x'.repeat(4096)) > 0);
  } catch {
    return writer;
  }
  throw new Error('The pipe took everything.');
}

/** Captures work with this standard output, and SIGTERM ends the server. */
async function expectNoHarm(stdout: number): Promise<void> {
  const server = await startServerProcess({ LOG_LEVEL: 'info' }, { stdout });
  undo.push(() => server.stop());
  const person = await signUp(server.origin);
  const { url } = await person.createEndpoint();
  for (let nth = 0; nth < 20; nth++) expect((await fetch(url, { method: 'POST', body: String(nth) })).status).toBe(200);
  expect(await metricOf(server.origin, 'creel_log_lines_lost_total')).toBe(0);
  expect(await server.kill('SIGTERM', 30_000)).toBe(0);
}

describe('a blocked standard output does no harm', () => {
  test('a full disk', () => expectNoHarm(opened('/dev/full', 'w')));
  test('a closed reader', () => expectNoHarm(closedPipe()));
  test('a reader that reads nothing', () => expectNoHarm(fullPipe()));
});

test('a log file on a full disk gets all lines when there is room', async (context) => {
  const disk = await mountSmallDisk(1);
  if (typeof disk === 'string') return context.skip(disk);
  undo.push(() => disk.remove());
  const file = join(disk.dir, 'creel.log');
  const fd = openSync(file, 'a');
  await disk.fill();
  const server = await startServerProcess({ LOG_LEVEL: 'info' }, { stdout: fd });
  closeSync(fd);
  undo.push(() => server.stop());
  expect(readFileSync(file, 'utf8')).not.toContain('\n');
  await disk.empty();
  await expect.poll(() => readFileSync(file, 'utf8')).toMatch(/Creel listens/);
  expect(await server.kill('SIGTERM')).toBe(0);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { msg: expect.stringMatching(/^Creel listens on port \d+: http/) },
    { msg: expect.stringMatching(/^stopping/) },
    { msg: 'stopped' },
  ]);
});
