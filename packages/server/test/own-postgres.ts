import { runStatement, withPostgres } from '../../../fixtures/postgres-client.ts';
import { startPostgres } from '../../../scripts/postgres.ts';

/** A PostgreSQL server of one test. */
export interface OwnServer {
  readonly url: string;
  /** Runs a statement as the server's owner. */
  readonly run: (text: string) => Promise<readonly Record<string, unknown>[]>;
  /** Kills one of its processes with -9. PostgreSQL then disconnects all clients and recovers from its log. */
  readonly crash: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startOwnServer(): Promise<OwnServer> {
  const { url, stop } = await startPostgres();
  return {
    url,
    run: (text) => runStatement(url, text),
    crash: () =>
      withPostgres(url, async (client) => {
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
        for (const { pid } of rows) process.kill(pid, 'SIGKILL');
      }),
    stop,
  };
}
