// A temporary PostgreSQL for tests and measurements: docs/decisions/0003-tooling.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const replySchema = z.union([z.object({ url: z.string() }), z.object({ error: z.string() })]);

/**
 * Starts a PostgreSQL on a free loopback port with an empty data folder and production durability. The user in the URL may create
 * databases. The server and its data are removed by `stop` and whenever this process ends, even by SIGKILL.
 * @param inMemory keeps the data in memory if this machine has a file system for it, because tests create hundreds of databases
 * @throws Error whose message is a sentence for the user
 */
export async function startPostgres({ inMemory = false } = {}): Promise<{ url: string; stop: () => Promise<void> }> {
  const program = fileURLToPath(new URL('postgres-supervisor.ts', import.meta.url));
  const supervisor = spawn(process.execPath, [program, ...(inMemory ? ['--in-memory'] : [])], {
    // Its own process group: Ctrl-C must not stop the database under a test that is still cleaning up.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // The supervisor stops PostgreSQL when this pipe closes. The operating system closes it however this process ends.
  supervisor.stdin.on('error', () => {});
  const exited = once(supervisor, 'exit');
  const reply = await new Promise<string>((resolve) => {
    const lines = createInterface({ input: supervisor.stdout });
    lines.once('line', resolve);
    lines.once('close', () => resolve('{"error":"PostgreSQL exited before it was ready."}'));
  });
  const result = replySchema.parse(JSON.parse(reply));
  if ('error' in result) throw new Error(result.error);
  supervisor.unref();
  return {
    url: result.url,
    stop: async () => {
      supervisor.ref();
      supervisor.stdin.end();
      await exited;
    },
  };
}

/** `node scripts/postgres.ts` prints the URL and keeps the database until Ctrl-C. */
if (import.meta.main) {
  const { url, stop } = await startPostgres();
  process.stdout.write(`${url}\n`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await stop();
}
