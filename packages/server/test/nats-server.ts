import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireProgram } from '../../../scripts/system-program.ts';
import { freePort } from '../../../fixtures/free-port.ts';

/** A nats-server of one test, from Debian's package. */
export interface NatsServer {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
}

const START_LIMIT_MS = 20_000;

/** Starts `nats-server` on a free or given loopback port. @throws Error when the program is not installed. */
export async function startNats(
  options: {
    readonly user?: string;
    readonly password?: string;
    readonly port?: number;
    /** A folder for JetStream, which is off without it. */
    readonly storeDir?: string;
  } = {},
): Promise<NatsServer> {
  const { user, password } = options;
  const program = requireProgram('nats-server');
  const port = options.port ?? (await freePort());
  const login = user === undefined || password === undefined ? [] : ['--user', user, '--pass', password];
  const jetStream = options.storeDir === undefined ? [] : ['--jetstream', '--store_dir', options.storeDir];
  const server = spawn(program, ['--addr', '127.0.0.1', '--port', String(port), ...login, ...jetStream], {
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  await Promise.race([
    untilOpen(port),
    ended.then(() => {
      throw new Error('nats-server ended before it was ready.');
    }),
  ]);
  const credentials = user === undefined ? '' : `${user}:${encodeURIComponent(password ?? '')}@`;
  return {
    port,
    url: `nats://${credentials}127.0.0.1:${port}`,
    pid: server.pid ?? 0,
    stop: async (signal = 'SIGTERM') => {
      server.kill(signal);
      await ended;
    },
  };
}

async function untilOpen(port: number): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await sleep(20);
  }
  throw new Error('nats-server did not become ready.');
}
