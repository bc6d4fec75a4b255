import { spawnSync } from 'node:child_process';
import { argon2Sync } from 'node:crypto';
import type { Argon2Parameters } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { HASH_THREAD_NAME, HashThreads } from './hash-threads.ts';

const TASKS = '/proc/self/task';
/** As the kernel's `sched.h` numbers it. */
const SCHED_IDLE = 5;

const parameters = (message: string): Argon2Parameters => ({
  message: Buffer.from(message),
  nonce: Buffer.alloc(16, 1),
  parallelism: 1,
  tagLength: 32,
  memory: 64,
  passes: 1,
});
const hashOf = (message: string) => argon2Sync('argon2id', parameters(message)).toString('hex');

let threads = new HashThreads(1);
afterEach(() => threads.close());

/** Ids of this process's threads of that name. */
function hashThreads(): string[] {
  return readdirSync(TASKS).filter((task) => readFileSync(`${TASKS}/${task}/comm`, 'utf8').trim() === HASH_THREAD_NAME);
}

test('many at once, on the threads and beside them, are all hashed right', async () => {
  threads = new HashThreads(2);
  const messages = Array.from({ length: 20 }, (_, nth) => `password ${nth}`);
  const tags = await Promise.all(messages.map((message) => threads.derive(parameters(message))));
  expect(tags.map((tag) => Buffer.from(tag).toString('hex'))).toEqual(messages.map(hashOf));
});

test.runIf(process.platform === 'linux')('its threads go behind all others, and those keep their place', async () => {
  threads = new HashThreads(1);
  await threads.derive(parameters('one'));
  const [thread = '', ...more] = hashThreads();
  expect(more).toEqual([]);
  const canIdle = spawnSync('chrt', ['-m']).status === 0;
  // The fields behind the name, which is in parentheses; the policy is field 41 of proc_pid_stat(5).
  const policyOf = (task: string) =>
    Number(readFileSync(`${TASKS}/${task}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[41 - 3]);
  const place = {
    idle: policyOf(thread) === SCHED_IDLE,
    lowest: getPriority(Number(thread)) === constants.priority.PRIORITY_LOW,
  };
  expect(place).toEqual({ idle: canIdle, lowest: !canIdle });
  const others = readdirSync(TASKS).filter((task) => task !== thread);
  expect(others.every((task) => policyOf(task) !== SCHED_IDLE)).toBe(true);
  expect(others.every((task) => getPriority(Number(task)) === getPriority(process.pid))).toBe(true);
});

test('what its threads do not come to is hashed beside them', async () => {
  threads = new HashThreads(1, 0);
  const dear = { ...parameters('dear'), memory: 19_456, passes: 2 };
  const [first, second] = await Promise.all([threads.derive(dear), threads.derive(parameters('behind it'))]);
  expect(Buffer.from(first).toString('hex')).toBe(argon2Sync('argon2id', dear).toString('hex'));
  expect(Buffer.from(second).toString('hex')).toBe(hashOf('behind it'));
});

test('a thread that ends is replaced, and nobody notices', async () => {
  threads = new HashThreads(1);
  await threads.derive(parameters('one'));
  const waiting = threads.derive({ ...parameters('two'), memory: 19_456, passes: 20 });
  await threads.close();
  expect((await waiting).length).toBe(32);
  expect(Buffer.from(await threads.derive(parameters('three'))).toString('hex')).toBe(hashOf('three'));
});
