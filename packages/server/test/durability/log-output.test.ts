import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startServerProcess } from '../server-process.ts';
import { signUp } from '../signed-in.ts';
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

async function metric(origin: string, name: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Captures work with this standard output, and SIGTERM ends the server. */
async function expectNoHarm(stdout: number, lost: number): Promise<void> {
  const server = await startServerProcess({ LOG_LEVEL: 'info' }, { stdout });
  undo.push(() => server.stop());
  const person = await signUp(server.origin);
  const { url } = await person.createEndpoint();
  for (let nth = 0; nth < 20; nth++) expect((await fetch(url, { method: 'POST', body: String(nth) })).status).toBe(200);
  expect(await metric(server.origin, 'creel_log_lines_lost_total')).toBeGreaterThanOrEqual(lost);
  expect(await server.kill('SIGTERM')).toBe(0);
}

describe('a blocked standard output does no harm', () => {
  test('a full disk', () => expectNoHarm(opened('/dev/full', 'w'), 1));
  test('a closed reader', () => expectNoHarm(closedPipe(), 1));
  test('a reader that reads nothing', () => expectNoHarm(fullPipe(), 0));
});

test('a log file on a full disk continues when there is room, and reports the loss', async (context) => {
  const disk = await mountSmallDisk(1);
  if (typeof disk === 'string') return context.skip(disk);
  undo.push(() => disk.remove());
  const file = join(disk.dir, 'creel.log');
  const fd = openSync(file, 'a');
  await disk.fill();
  const server = await startServerProcess({ LOG_LEVEL: 'info' }, { stdout: fd });
  closeSync(fd);
  undo.push(() => server.stop());
  expect(await metric(server.origin, 'creel_log_lines_lost_total')).toBeGreaterThan(0);
  await disk.empty();
  await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 10_000 }).toMatch(/log lines were lost/);
  expect(await server.kill('SIGTERM')).toBe(0);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { level: 40, count: 1 },
    { msg: expect.stringMatching(/^stopping/) },
    { msg: 'stopped' },
  ]);
});
