import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../../fixtures/free-port.ts';
import { startNats } from '../nats-server.ts';
import type { NatsServer } from '../nats-server.ts';

const SERVERS = [0, 1, 2] as const;

export type NatsCluster = Awaited<ReturnType<typeof startNatsCluster>>;

/** Starts three nats-servers with JetStream on this machine. @throws Error when nats-server is missing */
export async function startNatsCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'creel-nats-cluster-'));
  const ports = await freePorts(6);
  const routes = SERVERS.map((nth) => `nats://127.0.0.1:${ports[3 + nth]}`);
  const start = (nth: number): Promise<NatsServer> =>
    startNats({
      port: ports[nth] ?? 0,
      storeDir: join(folder, `nats-${nth}`),
      more: {
        server_name: `nats-${nth}`,
        cluster_name: 'chaos',
        cluster: routes[nth] ?? '',
        routes: routes.filter((_, other) => other !== nth).join(','),
      },
    });
  const servers = await Promise.all(SERVERS.map(start));
  return {
    urls: servers.map(({ url }) => url),
    /** Kills a server with -9, and starts it again with the same store. */
    async kill(nth: number) {
      await servers[nth]?.stop('SIGKILL');
      servers[nth] = await start(nth);
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop('SIGKILL')));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
