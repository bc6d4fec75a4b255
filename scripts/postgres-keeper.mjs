// Stands between a test run and its PostgreSQL: prepares and starts it, says the port, and when the pipe from the run
// closes (it asked, it ended, it was killed) stops it and removes the data. See postgres.mjs.
import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

const stopWithinMs = 10_000;

/** @typedef {{ binaries: string, folder: string, password: string, identity: { uid?: number, gid?: number } }} Order */

let server;

async function main() {
  const input = createInterface({ input: process.stdin });
  const ended = new Promise((resolve) => input.once('close', resolve));
  const order = JSON.parse(await new Promise((resolve) => input.once('line', resolve)));
  // A terminal's Ctrl-C, or a closed terminal, is for the run to deal with; ours is the pipe.
  ['SIGINT', 'SIGHUP'].forEach((signal) => process.on(signal, () => {}));
  process.on('SIGTERM', () => input.close());
  try {
    await prepare(order);
    answer({ port: await startOnFreePort(order) });
    await Promise.race([ended, new Promise((resolve) => server.once('exit', resolve))]);
  } catch (error) {
    answer({ problem: `PostgreSQL could not be started: ${error.message}` });
  } finally {
    await stopServer();
    await rm(order.folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit();
  }
}

const answer = (message) => process.stdout.write(`${JSON.stringify(message)}\n`, () => {});

/** @param {Order} order */
async function prepare(order) {
  const passwordFile = join(order.folder, 'password');
  await writeFile(passwordFile, order.password, { mode: 0o644 });
  const { code, output } = await finished(
    program(order, 'initdb', [
      '--pgdata',
      join(order.folder, 'data'),
      '--username=creel',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ]),
  );
  await rm(passwordFile, { force: true });
  if (code !== 0) {
    throw new Error(`initdb ended with ${code}: ${output.trim().slice(-600)}`);
  }
}

/** The free port may be taken between finding and using it; then another one is. @param {Order} order */
async function startOnFreePort(order) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    server = program(order, 'postgres', [...settings(order), '-p', String(port)]);
    const failure = await ready(server);
    if (!failure) {
      return port;
    }
    if (tries === 3) {
      throw new Error(failure);
    }
  }
}

/** Durability as in production (fsync, full_page_writes and synchronous_commit stay on), reachable by loopback TCP only. */
function settings(order) {
  const values = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200', fsync: 'on' };
  return [
    '-D',
    join(order.folder, 'data'),
    ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** @param {Order} order @param {string} name @param {string[]} args */
function program(order, name, args) {
  return spawn(join(order.binaries, 'bin', name), args, {
    cwd: order.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // What a person's environment says about PostgreSQL (PGDATA, PGPORT, LC_ALL, …) is about another one.
    env: { PATH: process.env['PATH'] ?? '', LD_LIBRARY_PATH: join(order.binaries, 'lib'), TZ: 'UTC' },
    ...order.identity,
  });
}

async function finished(child) {
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output };
}

/** Resolves with nothing once the server accepts connections, else with what it said before it ended. */
function ready(child) {
  return new Promise((resolve) => {
    let said = '';
    const listen = (chunk) => {
      said = `${said}${chunk}`.slice(-4_000);
      if (said.includes('ready to accept connections')) {
        child.stderr.off('data', listen);
        child.stderr.resume();
        resolve(undefined);
      }
    };
    child.stderr.on('data', listen);
    child.stdout.resume();
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(said.trim().slice(-600) || 'it ended at once'));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** SIGINT is PostgreSQL's "fast shutdown": open transactions are rolled back, clients are sent away. */
async function stopServer() {
  if (!server || server.exitCode !== null || server.signalCode !== null) {
    return;
  }
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGINT');
  const deadline = setTimeout(() => server.kill('SIGKILL'), stopWithinMs);
  await gone;
  clearTimeout(deadline);
}

await main();
