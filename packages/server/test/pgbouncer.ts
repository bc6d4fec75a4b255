import { mkdtemp, rm, writeFile, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../fixtures/free-port.ts';
import { listensOn, startProgram } from '../../../fixtures/start-program.ts';
import { requireProgram } from '../../../scripts/system-program.ts';

/** PgBouncer refuses to run as root. */
const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];

/** A PgBouncer before the server of this URL. */
export async function startPgBouncer(serverUrl: string, poolMode: 'session' | 'transaction' | 'statement') {
  const server = new URL(serverUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'creel-pgbouncer-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const [user, password] = [server.username, server.password].map(decodeURIComponent);
  await writeFile(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${user} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = ${poolMode}
unix_socket_dir =
`,
  );
  const { kill } = await startProgram(requireProgram('pgbouncer'), ['-q', ...asUser, file], {
    isReady: listensOn(port),
  });
  const url = new URL(serverUrl);
  url.port = String(port);
  return {
    url: url.href,
    async stop() {
      await kill('SIGTERM');
      await rm(folder, { recursive: true });
    },
  };
}
