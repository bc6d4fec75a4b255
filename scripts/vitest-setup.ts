import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.mjs';

type Running = Awaited<ReturnType<typeof startPostgres>>;

/**
 * Gives every test process one PostgreSQL between them, started when the first asks: a run of one small file waits for
 * nothing. The test processes can only be handed plain values before they start, so they are handed an address to ask at.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let running: Promise<Running> | undefined;
  const broker = createServer((_asked, answer) => {
    running ??= startPostgres();
    running.then(
      ({ url }) => answer.end(url),
      (error: unknown) => answer.writeHead(503).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
  // Listening on TCP, so its address is an AddressInfo and not the path of a pipe.
  const { port } = broker.address() as AddressInfo;
  project.provide('testDatabaseBroker', `http://127.0.0.1:${port}/`);
  return async () => {
    broker.closeAllConnections();
    await new Promise((resolve) => broker.close(resolve));
    await (await running?.catch(() => undefined))?.stop();
  };
}
