import { readFile, readdir } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';

const TASKS = '/proc/self/task';
/** As libuv calls the threads of its pool. */
const POOL_THREAD = 'libuv-worker';

/**
 * Puts the pool's threads, which hash passwords, behind the threads that capture: two hundred people who sign in at once must not be
 * felt by a sender. Linux schedules by thread and lists a process's threads under /proc; elsewhere nothing is changed.
 * Returns how many threads were moved.
 */
export async function letCapturesGoFirst(): Promise<number> {
  // This first use of the pool starts its threads.
  const tasks = await readdir(TASKS).catch(() => []);
  let moved = 0;
  for (const task of tasks) {
    const name = await readFile(`${TASKS}/${task}/comm`, 'utf8').catch(() => '');
    if (name.trim() !== POOL_THREAD) continue;
    setPriority(Number(task), constants.priority.PRIORITY_LOW);
    moved += 1;
  }
  return moved;
}
