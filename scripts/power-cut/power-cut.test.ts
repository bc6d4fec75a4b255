import { describe, expect, test } from 'vitest';
import { CutDisk } from './cut-disk.ts';
import { DiskTrace } from './disk-trace.ts';
import type { Step } from './disk-trace.ts';

const hex = (text: string): string =>
  [...Buffer.from(text, 'latin1')].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
const OPEN = `7 openat(AT_FDCWD, "${hex('/data/a')}", O_RDWR|O_CREAT, 0644) = 5`;
const ANSWER = hex('HTTP/1.1 200 OK\r\nx-creel-request: 41\r\n\r\n');

function steps(...lines: string[]): Step[] {
  const trace = new DiskTrace('/data/');
  return [OPEN, ...lines].flatMap((line) => trace.read(line));
}

describe('a trace', () => {
  test('contains writes, syncs and acknowledgments in their order', () => {
    const told = steps(
      `7 pwrite64(5, "${hex('abc')}", 3, 4096) = 3`,
      '7 fsync(5 <unfinished ...>',
      `8 write(9, "${ANSWER}", 40 <unfinished ...>`,
      '7 <... fsync resumed>) = 0',
      '8 <... write resumed>) = 40',
      '7 ftruncate(5, 12) = 0',
    );
    expect(told).toEqual([
      { kind: 'create', file: '/data/a' },
      { kind: 'write', file: '/data/a', at: 4096, bytes: Buffer.from('abc') },
      { kind: 'sync-begins', file: '/data/a', thread: '7' },
      { kind: 'acknowledge', index: 41 },
      { kind: 'sync-ends', file: '/data/a', thread: '7' },
      { kind: 'truncate', file: '/data/a', size: 12 },
    ]);
  });

  test('leaves out failed calls, other folders and other responses', () => {
    expect(
      steps(
        '7 fsync(5) = -1 EIO (Input/output error)',
        `7 openat(AT_FDCWD, "${hex('/tmp/b')}", O_RDWR|O_CREAT, 0644) = 6`,
        `7 pwrite64(6, "${hex('abc')}", 3, 0) = 3`,
        `8 write(9, "${hex('HTTP/1.1 503 Service Unavailable\r\n\r\n')}", 36) = 36`,
        `8 unlink("${hex('/tmp/b')}") = 0`,
      ).filter(({ kind }) => kind !== 'sync-begins'),
    ).toEqual([{ kind: 'create', file: '/data/a' }]);
  });

  test('rejects a truncated write', () => {
    expect(() => steps(`7 pwrite64(5, "${hex('ab')}", 3, 0) = 3`)).toThrow('holds less');
  });
});

describe('a disk after a power cut', () => {
  const file = '/data/a';
  const write = (text: string, at = 0): Step => ({ kind: 'write', file, at, bytes: Buffer.from(text) });
  const begins: Step = { kind: 'sync-begins', file, thread: '1' };
  const ends: Step = { kind: 'sync-ends', file, thread: '1' };
  const after = (honesty: 'honest' | 'lies', ...done: Step[]): CutDisk => {
    const disk = new CutDisk(honesty);
    for (const step of done) disk.take(step);
    return disk;
  };
  const text = (disk: CutDisk, fate: 'nothing' | 'everything'): string | undefined =>
    disk
      .cut(fate, () => 0)
      ?.get(file)
      ?.toString();

  test('guarantees only synced data', () => {
    const disk = after('honest', write('abc'), begins, write('X', 1), ends, write('Y', 2));
    expect([text(disk, 'nothing'), text(disk, 'everything')]).toEqual(['abc', 'aXY']);
  });

  test('guarantees nothing before the end of a sync, and never if it lies', () => {
    expect(text(after('honest', write('abc'), begins), 'nothing')).toBe('');
    expect(text(after('lies', write('abc'), begins, ends), 'nothing')).toBe('');
  });

  test('may keep any unsynced sectors', () => {
    const disk = after('honest', write('a'.repeat(512) + 'b'.repeat(512)));
    let rolls = 0;
    const found = disk.cut('some sectors', () => (rolls++ === 0 ? 0.9 : 0.1)).get(file);
    expect(found?.equals(Buffer.concat([Buffer.alloc(512), Buffer.alloc(512, 'b')]))).toBe(true);
  });

  test('keeps a truncated file truncated after a sync', () => {
    const disk = after('honest', write('abcdef'), { kind: 'truncate', file, size: 2 }, begins, ends);
    expect(text(disk, 'nothing')).toBe('ab');
  });
});
