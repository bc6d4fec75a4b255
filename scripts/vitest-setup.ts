import { createServer } from 'node:http';
import type { TestProject } from 'vitest/node';
import { listenLocally } from '../fixtures/listen-locally.ts';
import { startPostgres } from './postgres.ts';

/**
 * Provides one PostgreSQL for all test processes and starts it on the first request. Vitest can pass only plain values to test
 * processes, so they get the address of this server and ask it for the URL.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let running: ReturnType<typeof startPostgres> | undefined;
  const broker = createServer((_request, response) => {
    running ??= startPostgres({ inMemory: true });
    running.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(503).end(error instanceof Error ? error.message : String(error)),
    );
  });
  project.provide('testDatabaseBroker', `http://127.0.0.1:${await listenLocally(broker)}/`);
  return async () => {
    broker.closeAllConnections();
    await new Promise((resolve) => broker.close(resolve));
    await (await running?.catch(() => undefined))?.stop();
  };
}
