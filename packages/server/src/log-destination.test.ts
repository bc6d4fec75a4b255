import { expect, test } from 'vitest';
import { LogDestination } from './log.ts';

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A destination with a configurable capacity; with `undefined` it throws `code`. */
function someDestination() {
  const disk = {
    written: '',
    room: Number.POSITIVE_INFINITY,
    code: 'EAGAIN',
    /** With short reports of lost lines. */
    get text() {
      return this.written.replaceAll(/^\{.*"count":(\d+).*\}$/gm, 'lost $1');
    },
  };
  const log = new LogDestination((bytes) => {
    if (disk.room === 0) throw failure(disk.code);
    const written = Math.min(disk.room, bytes.length);
    disk.written += Buffer.from(bytes.subarray(0, written)).toString();
    disk.room -= written;
    return written;
  });
  return { disk, log };
}

test('a slow reader gets every line that fits in memory, in order and complete', () => {
  const { disk, log } = someDestination();
  disk.room = 3;
  log.write('first\n');
  log.write('second\n');
  log.write('third\n');
  expect(disk.text).toBe('fir');
  disk.room = Number.POSITIVE_INFINITY;
  log.flush();
  expect(disk.text).toBe('first\nsecond\nthird\n');
  expect(log.lostLines).toBe(0);
});

test('the buffer for a slow reader is bounded, and lost lines are counted and reported once', () => {
  const { disk, log } = someDestination();
  disk.room = 0;
  const line = `${'x'.repeat(1023)}\n`;
  for (let nth = 0; nth < 3000; nth++) log.write(line);
  expect(log.lostLines).toBe(3000 - 1024);
  disk.room = Number.POSITIVE_INFINITY;
  log.flush();
  log.write('after\n');
  expect(disk.text).toBe(`${line.repeat(1024)}lost 1976\nafter\n`);
});

test.each(['ENOSPC', 'EPIPE', 'EIO'])('%s keeps lines that fit in memory, and never throws', async (code) => {
  const { disk, log } = someDestination();
  Object.assign(disk, { room: 4, code });
  log.write('first\n');
  for (let nth = 0; nth < 5; nth++) log.write('kept\n');
  expect(disk.text).toBe('firs');
  disk.room = Number.POSITIVE_INFINITY;
  await expect.poll(() => disk.text).toBe(`first\n${'kept\n'.repeat(5)}`);
  expect(log.lostLines).toBe(0);
});

test('the loss is reported without another log line', async () => {
  const { disk, log } = someDestination();
  Object.assign(disk, { room: 0, code: 'ENOSPC' });
  log.write(`${'x'.repeat(1024 * 1024 - 1)}\n`);
  log.write('lost\n');
  disk.room = Number.POSITIVE_INFINITY;
  await expect.poll(() => disk.text.trimStart().slice(1024 * 1024)).toBe('lost 1\n');
});
