import { runStatement, withPostgres } from '../../../fixtures/postgres-client.ts';
import { startPostgres } from '../../../scripts/postgres.ts';

/** A PostgreSQL server of one test. */
export type OwnServer = Awaited<ReturnType<typeof startOwnServer>>;

/** Starts a PostgreSQL that a test may kill. */
export async function startOwnServer() {
  const { url, stop } = await startPostgres({ inMemory: true });
  return {
    url,
    /** Runs a statement as the server's owner. */
    run: (text: string) => runStatement(url, text),
    /** Kills one of its processes with -9. PostgreSQL then disconnects all clients and recovers from its log. */
    crash: () =>
      withPostgres(url, async (client) => {
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
        for (const { pid } of rows) process.kill(pid, 'SIGKILL');
      }),
    stop,
  };
}
