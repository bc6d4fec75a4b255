import { fork } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import type { MeasuredCreel } from './server-under-test.ts';

const openSchema = z.object({ open: z.literal(true) });
const countSchema = z.object({ frames: z.number(), bytes: z.number() });

/** Runs `work` while a live view of the endpoint is open; what it got comes with the result. */
export async function withViewer<T>(
  creel: MeasuredCreel,
  work: () => Promise<T>,
): Promise<{ result: T; frames: number }> {
  const url = `ws://127.0.0.1:${creel.port}/ws?endpoint=${creel.uid}`;
  const child = fork(join(import.meta.dirname, 'viewer.ts'), [url, creel.cookie]);
  const next = (): Promise<unknown> => new Promise((resolve) => child.once('message', resolve));
  openSchema.parse(await next());
  try {
    const result = await work();
    const counted = next();
    child.send('count');
    return { result, frames: countSchema.parse(await counted).frames };
  } finally {
    child.disconnect();
  }
}
