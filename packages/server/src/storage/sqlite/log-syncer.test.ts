import { afterEach, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogSyncer } from './log-syncer.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A syncer whose disk answers when the test says so. */
function gatedSyncer(): { syncer: LogSyncer; started: () => number; answer: (error?: Error) => void; log: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'creel-syncer-'));
  folders.push(folder);
  const file = join(folder, 'log');
  writeFileSync(file, '');
  const answers: ((error: Error | null) => void)[] = [];
  let started = 0;
  const syncer = new LogSyncer(file, (_file, done) => {
    started += 1;
    answers.push(done);
  });
  return { syncer, started: () => started, answer: (error) => answers.shift()?.(error ?? null), log: [] };
}

/** Lets every promise that can go on go on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the log syncer', () => {
  it('resolves after the disk has answered, and not before', async () => {
    const { syncer, answer, log } = gatedSyncer();
    const waiting = syncer.sync().then(() => log.push('synced'));
    await settle();
    expect(log).toEqual([]);
    answer();
    await waiting;
    expect(log).toEqual(['synced']);
  });

  it('does not let a commit be served by a sync that began before it', async () => {
    const { syncer, started, answer, log } = gatedSyncer();
    void syncer.sync().then(() => log.push('first'));
    void syncer.sync().then(() => log.push('second'));
    answer();
    await settle();
    expect(log).toEqual(['first']);
    expect(started()).toBe(2);
    answer();
    await settle();
    expect(log).toEqual(['first', 'second']);
  });

  it('serves everything that waited with one sync', async () => {
    const { syncer, started, answer } = gatedSyncer();
    void syncer.sync();
    const rest = Promise.all(Array.from({ length: 50 }, () => syncer.sync()));
    answer();
    answer();
    await rest;
    expect(started()).toBe(2);
  });

  it('promises nothing any more after a sync has failed', async () => {
    const { syncer, answer } = gatedSyncer();
    const failed = syncer.sync();
    const waiting = syncer.sync();
    answer(new Error('EIO'));
    await expect(failed).rejects.toThrow('EIO');
    answer();
    await expect(waiting).rejects.toThrow('EIO');
    await expect(syncer.sync()).rejects.toThrow('EIO');
  });
});
