import { expect, test } from 'vitest';
import { SharedReads } from './shared-reads.ts';

test('calls for a key share the running read, also its failure, and later calls read again', async () => {
  const reads = new SharedReads<string, number>();
  let count = 0;
  const read = (key: string) => reads.run(key, async () => (count += 1));
  expect(await Promise.all([read('a'), read('a'), read('b')])).toEqual([1, 1, 2]);
  expect(await read('a')).toBe(3);
  const failed = Promise.withResolvers<number>();
  const both = [reads.run('a', () => failed.promise), read('a')];
  failed.reject(new Error('failed'));
  for (const each of await Promise.allSettled(both)) expect(each.status).toBe('rejected');
  expect(await read('a')).toBe(4);
});

test.each(['forget', 'forgetAll'] as const)(
  'after %s calls start a new read, which the old one leaves alone',
  async (method) => {
    const reads = new SharedReads<string, string>();
    const [old, latest] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    let isLatest = (): boolean => false;
    const first = reads.run('a', (is) => ((isLatest = is), old.promise));
    expect(isLatest()).toBe(true);
    reads[method]('a');
    expect(isLatest()).toBe(false);
    const second = reads.run('a', () => latest.promise);
    old.resolve('old');
    expect(await first).toBe('old');
    expect(reads.run('a', () => Promise.resolve('third'))).toBe(second);
    latest.resolve('latest');
    expect(await second).toBe('latest');
  },
);
