import { expect, test } from 'vitest';
import { ProblemError } from '../../http/problem.ts';
import { SerialQueues } from './serial-queues.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const always = () => true;

/** Work that ends on command, and which of it has started. */
function manual() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => (): Promise<string> => {
    begun.push(name);
    return new Promise((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve(name))));
  };
  return { begun, work, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

test("one user's work runs sequentially, in order; another user's in parallel", async () => {
  const { begun, work, end } = manual();
  const line = new SerialQueues();
  const results = ['a', 'b', 'c'].map((name) => line.run(1, always, work(name)));
  const other = line.run(2, always, work('other'));
  await settled();
  expect(begun).toEqual(['a', 'other']);
  end('a');
  await settled();
  expect(begun).toEqual(['a', 'other', 'b']);
  end('b', new Error('disk I/O error'));
  await expect(results[1]).rejects.toThrow('disk I/O error');
  await settled();
  end('c');
  end('other');
  expect(await Promise.all([results[0], results[2], other])).toEqual(['a', 'c', 'other']);
});

test('work without a waiting caller is not started, and does not block the next', async () => {
  const { begun, work, end } = manual();
  const line = new SerialQueues();
  const first = line.run(1, always, work('first'));
  const given = line.run(1, () => false, work('given up'));
  const last = line.run(1, always, work('last'));
  await settled();
  end('first');
  await expect(given).rejects.toBeInstanceOf(ProblemError);
  await settled();
  end('last');
  expect(await Promise.all([first, last])).toEqual(['first', 'last']);
  expect(begun).toEqual(['first', 'last']);
});

test('the queue is bounded, for one user and not for others, and accepts work again later', async () => {
  const { work, end } = manual();
  const line = new SerialQueues();
  const first = line.run(1, always, work('0'));
  const waiting = Array.from({ length: 10 }, () => line.run(1, always, async () => 'done'));
  await expect(line.run(1, always, work('too many'))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(await line.run(2, always, async () => 'served')).toBe('served');
  end('0');
  await settled();
  end('0');
  expect(await Promise.all([first, ...waiting])).toEqual(['0', ...waiting.map(() => 'done')]);
  expect(await line.run(1, always, async () => 'again')).toBe('again');
});
