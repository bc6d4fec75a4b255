import { requireProgram } from '../../../scripts/system-program.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { listensOn, startProgram } from '../../../fixtures/start-program.ts';

/** A nats-server of one test, from Debian's package. */
export type NatsServer = Awaited<ReturnType<typeof startNats>>;

/** Starts `nats-server` on a free or given loopback port. @throws Error when the program is not installed. */
export async function startNats(
  options: {
    readonly user?: string;
    readonly password?: string;
    readonly port?: number;
    /** A folder for JetStream, which is off without it. */
    readonly storeDir?: string;
    /** More options by name. */
    readonly more?: Readonly<Record<string, string>>;
  } = {},
) {
  const { user, password, storeDir, more = {} } = options;
  const port = options.port ?? (await freePort());
  const settings = {
    addr: '127.0.0.1',
    port: String(port),
    ...(user !== undefined && password !== undefined && { user, pass: password }),
    ...(storeDir !== undefined && { store_dir: storeDir }),
    ...more,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const { pid, kill } = await startProgram(
    requireProgram('nats-server'),
    storeDir === undefined ? args : ['--jetstream', ...args],
    { isReady: listensOn(port) },
  );
  const credentials = user === undefined ? '' : `${user}:${encodeURIComponent(password ?? '')}@`;
  return {
    port,
    url: `nats://${credentials}127.0.0.1:${port}`,
    pid,
    stop: async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => void (await kill(signal)),
  };
}
