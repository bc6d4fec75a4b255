import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { StorageUnavailable } from '../../database/store.ts';
import type { PackedCaptures } from '../../database/packed-captures.ts';
import type { CaptureOutcome } from '../../database/store.ts';
import { NoOverflowLog, SilentOverflowLog } from './overflow-stream.ts';
import type { LoggedBatches } from './overflow-log.ts';
import { OverflowWriter } from './overflow-writer.ts';

const LIMITS = { maxUnsaved: 5, maxSaved: 7 };
const OUTCOME: CaptureOutcome = {
  indexes: new Float64Array(1),
  savedIds: new Float64Array(1),
  receivedAt: new Float64Array(1),
};

function batchOf(id: string): PackedCaptures {
  return { id, count: 1, numbers: new Float64Array(5), bytes: new Uint8Array(0) };
}

/** A writer with a database and a log in memory. */
function world() {
  const state = {
    isDown: false,
    isLogDown: false,
    failure: undefined as Error | undefined,
    hasNoLog: false,
    mayDrain: false,
    isReset: false,
  };
  const stored: string[] = [];
  const logged: PackedCaptures[] = [];
  let taken = 0;
  let searches = 0;
  const writeCaptures = async ({ id }: PackedCaptures, _limits?: unknown, withinMs = 1): Promise<CaptureOutcome> => {
    if (state.isDown || withinMs <= 0) throw new StorageUnavailable('away');
    if (id === 'bad') throw new Error('a mistake of ours');
    stored.push(id);
    return OUTCOME;
  };
  const log = {
    isFull: false,
    append: async (batch: PackedCaptures) => {
      if (state.isLogDown) throw new StorageUnavailable('full');
      return logged.push(batch);
    },
    next: async (): Promise<LoggedBatches | undefined> => {
      searches += 1;
      if (state.failure !== undefined) throw state.failure;
      const batch = state.mayDrain ? logged[taken] : undefined;
      if (batch === undefined) return void (await sleep(5));
      return { batches: [batch], done: async () => void (taken += 1) };
    },
    state: async () => {
      if (state.hasNoLog) throw new NoOverflowLog('no JetStream');
      if (state.isLogDown) throw new StorageUnavailable('away');
      if (state.isReset) return { messages: 0, bytes: 0, drainedTo: 0, lastPosition: 0 };
      return { messages: logged.length - taken, bytes: 0, drainedTo: taken, lastPosition: logged.length };
    },
  };
  const check = vi.fn<() => Promise<void>>(async () => {
    if (state.isDown) throw new StorageUnavailable('away');
  });
  const modes: string[] = [];
  const failures: unknown[] = [];
  const writer = new OverflowWriter({
    store: { writeCaptures },
    drainStore: {
      writeLogged: async (batches) =>
        Promise.all(
          batches.map(async (batch) => ({
            batch: { ...batch, joinedIds: [batch.id] },
            outcome: await writeCaptures(batch),
          })),
        ),
      check,
    },
    log,
    limits: LIMITS,
    onDrained: () => undefined,
    onFailure: (error) => failures.push(error),
    onMode: (mode) => modes.push(mode),
  });
  const write = (id: string, withinMs = 4000): Promise<CaptureOutcome | 'logged'> =>
    writer.writeCaptures(batchOf(id), LIMITS, withinMs);
  return { state, stored, logged, log, writer, write, modes, check, failures, searches: () => searches };
}

/** A writer whose batch `a` was in the log and is now in the database. `isReset`: the positions of the log started again. */
async function drainOne({ isReset = false } = {}) {
  const created = world();
  const { state, write, stored, writer } = created;
  await writer.start();
  state.isDown = true;
  await write('a');
  Object.assign(state, { isDown: false, mayDrain: true, isReset });
  await expect.poll(() => stored).toEqual(['a']);
  return created;
}

test('without a failure nothing goes to the log', async () => {
  const { write, stored, logged } = world();
  await expect(write('a')).resolves.toBe(OUTCOME);
  expect([stored, logged]).toEqual([['a'], []]);
});

test('a batch whose captures have waited long does not go to the log for that', async () => {
  const { write, stored, logged } = world();
  await expect(write('a', 1000)).resolves.toBe(OUTCOME);
  expect([stored, logged]).toEqual([['a'], []]);
});

test('batches follow those in the log, although the database is back, until the log is drained', async () => {
  const { state, write, stored, writer, modes, check } = world();
  await writer.start();
  state.isDown = true;
  for (const id of ['a', 'b']) await expect(write(id)).resolves.toBe('logged');
  state.isDown = false;
  check.mockClear();
  await expect.poll(() => check.mock.calls.length).toBeGreaterThan(0);
  await expect(write('c')).resolves.toBe('logged');
  expect(stored).toEqual([]);
  state.mayDrain = true;
  await expect.poll(() => writer.isLogging).toBe(false);
  await expect(write('d')).resolves.toBe(OUTCOME);
  expect(stored).toEqual(['a', 'b', 'c', 'd']);
  expect(modes).toEqual(['log', 'database']);
  await writer.close();
});

test('under load a batch near the end of the log waits for it and is stored', async () => {
  const { write, writer } = await drainOne();
  await expect(write('b')).resolves.toBe(OUTCOME);
  await writer.close();
});

test('a batch that is itself at fault is not logged', async () => {
  const { write, logged } = world();
  await expect(write('bad')).rejects.toThrow('a mistake of ours');
  expect(logged).toEqual([]);
});

test('a batch that neither the database nor the log takes fails, and is not written later', async () => {
  const { state, write, stored, logged, writer } = world();
  Object.assign(state, { isDown: true, isLogDown: true });
  await expect(write('a')).rejects.toThrow(StorageUnavailable);
  Object.assign(state, { isDown: false, isLogDown: false, mayDrain: true });
  await writer.start();
  await expect.poll(() => writer.isLogging).toBe(false);
  await expect(write('b')).resolves.toBe(OUTCOME);
  expect([stored, logged]).toEqual([['b'], []]);
  await writer.close();
});

test('a log that does not answer does not count as drained', async () => {
  const { state, writer } = world();
  expect(writer.isDrained).toBe(false);
  await writer.start();
  await expect.poll(() => writer.isDrained).toBe(true);
  state.isLogDown = true;
  await expect.poll(() => writer.isDrained).toBe(false);
  state.isLogDown = false;
  await expect.poll(() => writer.isDrained).toBe(true);
  await writer.close();
});

test.each([
  ['stops answering', new SilentOverflowLog('timeout')],
  ["can't be read", new Error('a mistake of ours')],
])('a log that %s is reported once, and again after it has answered', async (_what, failure) => {
  const { state, writer, failures, searches } = world();
  await writer.start();
  for (const outages of [1, 2]) {
    state.failure = failure;
    const before = searches();
    await expect.poll(() => searches() - before).toBeGreaterThan(2);
    expect(failures).toHaveLength(outages);
    state.failure = undefined;
    const after = searches();
    await expect.poll(() => searches() - after).toBeGreaterThan(1);
  }
  await writer.close();
});

test('a start resolves without an answer of the log, and reports it', async () => {
  const { state, write, writer, failures } = world();
  state.isLogDown = true;
  await writer.start(20);
  expect(failures).toEqual([
    new StorageUnavailable('The overflow log did not answer. Captures may overtake its batches.'),
  ]);
  await expect(write('a')).resolves.toBe(OUTCOME);
  await writer.close();
});

test('a start does not wait for a log that does not exist, and reports it', async () => {
  const { state, writer, failures } = world();
  state.hasNoLog = true;
  await writer.start();
  expect(failures).toEqual([new NoOverflowLog('no JetStream')]);
  await writer.close();
});

test('what an earlier process has logged comes first', async () => {
  const { state, write, stored, logged, writer } = world();
  logged.push(batchOf('earlier'));
  state.isLogDown = true;
  const started = writer.start();
  state.isLogDown = false;
  await started;
  await expect(write('a')).resolves.toBe('logged');
  state.mayDrain = true;
  await expect.poll(() => stored).toEqual(['earlier', 'a']);
  await writer.close();
});

test('a full log takes no captures', async () => {
  const { log, writer } = world();
  await writer.checkLog();
  log.isFull = true;
  await expect(writer.checkLog()).rejects.toThrow('The overflow log is full.');
});

test('an empty log whose positions start again is drained, after a while', async () => {
  const { writer } = await drainOne({ isReset: true });
  await writer.checkLog();
  expect(writer.isLogging).toBe(true);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 11_000);
  await writer.checkLog();
  expect(writer.isLogging).toBe(false);
  await writer.close();
});
