import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { ConfigProblem, readConfig } from './config.ts';
import { codeOf } from './error-code.ts';
import { createLog, LogDestination, standardOutput } from './log.ts';
import type { Logger } from './log.ts';
import { openStore, startServer } from './app.ts';
import type { RunningServer } from './app.ts';
import { StorageProblem, StorageUnavailable } from './database/store.ts';
import { startProblem } from './database/postgres/faults.ts';
import { trimMemoryAfterFloods } from './limits/memory-trimmer.ts';

/** Wiring and signals. The only file that ends the process. */

/** Why the server can't start, as sentences for the operator; `undefined` for unexpected errors. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof ConfigProblem || error instanceof StorageProblem) return error.message;
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    const port = error instanceof Error && 'port' in error ? ` ${String(error.port)}` : '';
    return `Port${port} is in use by another program. Stop it, or set PORT to another one.`;
  }
  if (code === 'EACCES') return 'This port may not be opened by an ordinary user. Set PORT to 1024 or more.';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return 'HOST is not an address of this machine. Set it to one, or to 0.0.0.0 for all.';
  return undefined;
}

async function start(): Promise<{ server: RunningServer; log: Logger }> {
  const config = readConfig(process.env);
  const { isTerminal, writeSome } = standardOutput(process.stdout);
  const destination = new LogDestination(writeSome);
  process.once('exit', () => destination.flush());
  const log = createLog(config.logLevel, isTerminal, destination);
  if (config.exposesPrivateTargets)
    log.warn(
      'Users can send replays to this machine and its network, because HOST is a loopback address. Set ALLOW_PRIVATE_TARGETS to false, or to true if that is intended.',
    );
  if (config.missingForStripe.length > 0)
    log.warn(
      `Billing is off, because ${config.missingForStripe.join(', ')} must be set as well, for Stripe. Set BILLING to off if that is intended.`,
    );
  const store = await openStore(config, () =>
    log.info(
      'The schema of the database is updated as soon as other sessions release its tables. The server tries for a minute.',
    ),
  );
  try {
    const lostLogLines = (): number => destination.lostLines;
    return { server: await startServer({ config, store, log, lostLogLines }), log };
  } catch (error) {
    await store.close();
    const isDatabase = error instanceof StorageUnavailable && config.databaseUrl !== undefined;
    throw isDatabase ? startProblem(error, config.databaseUrl) : error;
  }
}

/** Under npm a single Ctrl-C arrives several times: from the terminal, from npm, and from scripts/setup.mjs. */
const SAME_PRESS_MS = 500;
/** Milliseconds until a server that can't stop gracefully, because its storage hangs, is killed. */
const STOP_LIMIT_MS = 9500;

/** The first signal stops the server gracefully, a second one at once. */
function stopOnSignals(server: RunningServer, log: Logger): void {
  let askedAt: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (askedAt !== undefined) {
      if (performance.now() - askedAt > SAME_PRESS_MS) process.exit(1);
      return;
    }
    askedAt = performance.now();
    log.info({ signal }, 'stopping: open requests are finished first');
    setTimeout(() => {
      log.error('stopping took too long; requests without an answer may not be stored');
      process.exit(1);
    }, STOP_LIMIT_MS).unref();
    server.stop().then(
      () => {
        log.info('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  // `creel serve` was killed, and nothing else would stop the server (scripts/programs.mjs).
  process.once('disconnect', () => stop('SIGTERM'));
}

// The flag of the main thread (scripts/server-flags.mjs) would override the smaller limits of the worker threads.
setFlagsFromString('--max-semi-space-size=0');
// libuv gives half of its threads to lookups of names: 6 for replays, 6 for checks of destinations, and the rest for mail, payments and
// the database. It starts them at their first use, so this is early enough.
process.env['UV_THREADPOOL_SIZE'] ??= '32';
try {
  const { server, log } = await start();
  stopOnSignals(server, log);
  if (!trimMemoryAfterFloods()) log.debug('This system does not return freed memory on demand.');
  log.info({ url: server.url, port: server.port }, `Creel listens on port ${server.port}: ${server.url}`);
  // Node writes it at a regular exit, but a killed server has none.
  flushCompileCache();
} catch (error) {
  process.stderr.write(`${reasonOf(error) ?? (error instanceof Error ? error.stack : String(error))}\n`);
  process.exit(1);
}
