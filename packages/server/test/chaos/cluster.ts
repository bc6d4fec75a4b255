import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from '../../../../scripts/system-program.ts';
import { startOwnServer } from '../own-postgres.ts';
import { openLink } from '../postgres-link.ts';
import { startServerProcess } from '../server-process.ts';
import type { ServerProcess } from '../server-process.ts';
import { freePorts } from '../../../../fixtures/free-port.ts';
import { listensOn, startProgram } from '../../../../fixtures/start-program.ts';
import type { Program } from '../../../../fixtures/start-program.ts';
import { startNatsCluster } from './nats-cluster.ts';

const NODES = [0, 1, 2] as const;

/** Three nodes behind nginx, one PostgreSQL behind a link, and a NATS cluster of three. All on this machine. */
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Starts it on free ports. @throws Error when nginx, nats-server or PostgreSQL is missing */
export async function startCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'creel-chaos-'));
  const [postgres, ports] = await Promise.all([startOwnServer(), freePorts(4)]);
  const link = await openLink(postgres.url);
  const nats = await startNatsCluster();
  const nodePorts = NODES.map((nth) => ports[nth] ?? 0);
  const settings = {
    DATABASE_URL: link.url,
    NATS_URL: nats.urls.join(','),
    MAX_UNSAVED_PER_ENDPOINT: '1000000',
    TRUST_PROXY: '127.0.0.1',
  };
  const startNode = (nth: number): Promise<ServerProcess> =>
    startServerProcess(settings, { port: nodePorts[nth] ?? 0, untilPath: '/healthz' });
  const nodes = await Promise.all(NODES.map(startNode));
  const nginxPort = ports[3] ?? 0;
  const nginx = await startNginx(folder, nginxPort, nodePorts);
  return {
    /** nginx. */
    origin: `http://127.0.0.1:${nginxPort}`,
    /** The nodes, for senders that pass nginx by. */
    nodeOrigins: nodePorts.map((port) => `http://127.0.0.1:${port}`),
    postgres,
    link,
    /** Kills a node with -9, and starts it again on the same port. */
    async killNode(nth: number): Promise<void> {
      await nodes[nth]?.kill('SIGKILL');
      nodes[nth] = await startNode(nth);
    },
    /** Kills a nats-server with -9, and starts it again with the same store. */
    killNats: nats.kill,
    output: () => nodes.map((node) => node.output().slice(-3000)).join('\n'),
    async stop(): Promise<void> {
      await Promise.all(nodes.map((node) => node.stop()));
      await Promise.all([nginx.kill('SIGKILL'), nats.stop()]);
      await link.close();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startNginx(folder: string, port: number, nodePorts: readonly number[]): Promise<Program> {
  const home = join(folder, 'nginx');
  await mkdir(home);
  const upstreams = nodePorts.map((nodePort) => `server 127.0.0.1:${nodePort} max_fails=1 fail_timeout=1s;`).join(' ');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(home, name)};`,
  );
  const file = join(home, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; master_process off; pid ${join(home, 'pid')}; error_log ${join(home, 'error.log')};
    events { worker_connections 1024; }
    http {
      access_log off; ${temporary.join(' ')}
      upstream creel { ${upstreams} keepalive 32; }
      map $http_upgrade $connection_header { default upgrade; '' ''; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://creel; proxy_http_version 1.1; proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_header;
          proxy_read_timeout 75s;
        }
      }
    }`,
  );
  return startProgram(requireProgram('nginx'), ['-c', file, '-p', home], { isReady: listensOn(port) });
}
