import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { deliveryAttempt } from '../../../test/delivery-attempt.ts';
import { StorageUnavailable } from '../../database/store.ts';
import type { Attempt } from './attempt-queries.ts';
import { AttemptRecorder } from './attempt-recorder.ts';

const attemptOf = (deliveryId: string): Attempt => deliveryAttempt({ deliveryId });

/** A recorder whose storage throws what `failure` returns. */
function world(failure: (attempts: readonly Attempt[]) => Error | undefined) {
  const stored: string[][] = [];
  /** Whether each call was one that may repeat another. */
  const asked: boolean[] = [];
  const end = new AbortController();
  const recorder = new AttemptRecorder({
    store: {
      async recordAttempts(attempts, _now, mayBeStored) {
        await sleep(0);
        asked.push(mayBeStored === true);
        const error = failure(attempts);
        if (error !== undefined) throw error;
        stored.push(attempts.map(({ deliveryId }) => deliveryId));
        return [];
      },
    },
    now: () => 0,
    onRecorded: () => undefined,
    onFailure: () => undefined,
    signal: end.signal,
  });
  return { stored, asked, recorder, stop: () => end.abort() };
}

test('attempts that arrive during a write share the next one', async () => {
  const { stored, recorder } = world(() => undefined);
  await Promise.all(['a', 'b', 'c'].map((id) => recorder.record(attemptOf(id))));
  expect(stored).toEqual([['a'], ['b', 'c']]);
});

test('steady attempts share a transaction', async () => {
  const { stored, recorder } = world(() => undefined);
  await recorder.record(attemptOf('a'));
  const b = recorder.record(attemptOf('b'));
  // Not a timer, because on a busy machine it could be later than the next transaction.
  await Promise.resolve();
  await Promise.all([b, recorder.record(attemptOf('c'))]);
  expect(stored).toEqual([['a'], ['b', 'c']]);
});

test('an attempt that cannot be stored does not delay others', async () => {
  const { stored, recorder, stop } = world((attempts) =>
    attempts.some(({ deliveryId }) => deliveryId === 'bad') ? new Error('invalid byte sequence') : undefined,
  );
  const bad = recorder.record(attemptOf('bad'));
  await Promise.all(['a', 'b'].map((id) => recorder.record(attemptOf(id))));
  const again = recorder.record(attemptOf('bad'));
  await Promise.all(['c', 'd'].map((id) => recorder.record(attemptOf(id))));
  expect(stored.flat().toSorted()).toEqual(['a', 'b', 'c', 'd']);
  stop();
  await Promise.all([bad, again]);
});

test('while storage is unavailable all wait, and none is tried alone', async () => {
  let tries = 0;
  let isDown = true;
  const { stored, asked, recorder } = world(() => {
    tries += 1;
    return isDown ? new StorageUnavailable('away') : undefined;
  });
  const all = Promise.all(['a', 'b', 'c'].map((id) => recorder.record(attemptOf(id))));
  await expect.poll(() => tries).toBeGreaterThan(0);
  isDown = false;
  await all;
  expect(stored).toEqual([['a'], ['b', 'c']]);
  // The first call may have stored the attempt, although its answer was lost.
  expect([asked[0], asked.at(-2), asked.at(-1)]).toEqual([false, true, false]);
});
