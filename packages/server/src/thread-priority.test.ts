import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const seenSchema = z.object({ moved: z.number(), threads: z.array(z.tuple([z.string(), z.number()])) });

/** In a process of its own, because what a thread gave up it does not get back. */
test('the threads that hash passwords go behind those that capture', async () => {
  const script = `
    import { letCapturesGoFirst } from '${new URL('./thread-priority.ts', import.meta.url).href}';
    import { readdirSync, readFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    const moved = await letCapturesGoFirst();
    const threads = process.platform !== 'linux' ? [] : readdirSync('/proc/self/task').map((task) => [
      readFileSync('/proc/self/task/' + task + '/comm', 'utf8').trim(), getPriority(Number(task))]);
    console.log(JSON.stringify({ moved, threads }));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
  const { moved, threads } = seenSchema.parse(JSON.parse(stdout));
  const usual = getPriority(process.pid);
  const pool = threads.filter(([name]) => name === 'libuv-worker');
  expect(pool).toHaveLength(moved);
  expect(pool.every(([, priority]) => priority > usual)).toBe(true);
  expect(threads.filter(([name]) => name !== 'libuv-worker').every(([, priority]) => priority === usual)).toBe(true);
  expect(moved > 0).toBe((await readFile('/proc/self/comm', 'utf8').catch(() => '')) !== '');
});
