import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../../fixtures/free-port.ts';
import { requireProgram } from '../../../../scripts/system-program.ts';

const SERVERS = [0, 1, 2] as const;

/** Three nats-servers with JetStream, on this machine. */
export interface NatsCluster {
  readonly urls: readonly string[];
  /** Kills a server with -9, and starts it again with the same store. */
  readonly kill: (nth: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** @throws Error when nats-server is missing */
export async function startNatsCluster(): Promise<NatsCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-nats-cluster-'));
  const ports = await freePorts(6);
  const routes = SERVERS.map((nth) => `nats://127.0.0.1:${ports[3 + nth]}`);
  const start = (nth: number): ChildProcess => {
    const settings = {
      addr: '127.0.0.1',
      port: String(ports[nth]),
      server_name: `nats-${nth}`,
      store_dir: join(folder, `nats-${nth}`),
      cluster_name: 'chaos',
      cluster: routes[nth] ?? '',
      routes: routes.filter((_, other) => other !== nth).join(','),
    };
    const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    return spawn(requireProgram('nats-server'), ['--jetstream', ...options], { stdio: 'ignore' });
  };
  const servers = SERVERS.map(start);
  return {
    urls: SERVERS.map((nth) => `nats://127.0.0.1:${ports[nth]}`),
    async kill(nth) {
      await end(servers[nth]);
      servers[nth] = start(nth);
    },
    async stop() {
      await Promise.all(servers.map(end));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Kills a process with -9. */
export async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
