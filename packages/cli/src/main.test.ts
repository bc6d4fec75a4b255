import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { compileCache } from '../../../fixtures/server-program.ts';
import { creelLogin } from '../test/creel.ts';
import { capture, register, startServer, temporaryFolder } from '../test/server-process.ts';

/** Runs `creel` as a separate process, with real exit codes, pipes and signals. */
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
/** Starts MAIN in another process, as users do. */
const CREEL = fileURLToPath(new URL('../creel.mjs', import.meta.url));

const folder = await temporaryFolder();
const server = await startServer(join(folder.path, 'data'));
const person = await register(server.origin);
await creelLogin(server.origin, person, folder.path);
const { url } = await person.client.call('createEndpoint', { body: {} });
for (let n = 0; n < 200; n += 20)
  await Promise.all(Array.from({ length: 20 }, () => capture(`${url}/${'x'.repeat(2000)}`)));

afterAll(async () => {
  await server.stop();
  await folder.remove();
});

interface Process {
  readonly child: ChildProcess;
  readonly text: { out: string; err: string };
}

function launch(words: readonly string[], stdout: 'pipe' | number = 'pipe', program = MAIN): Process {
  const env = { XDG_CONFIG_HOME: folder.path, ...compileCache };
  const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', stdout, 'pipe'] });
  const text = { out: '', err: '' };
  child.stdout?.on('data', (piece) => (text.out += String(piece)));
  child.stderr?.on('data', (piece) => (text.err += String(piece)));
  return { child, text };
}

async function end({ child, text }: Process): Promise<{ code: unknown; out: string; err: string }> {
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, ...text };
}

test('--version and --help go to standard output', async () => {
  expect(await end(launch(['--version']))).toEqual({ code: 0, out: 'creel 0.1.0\n', err: '' });
  const help = await end(launch(['--help']));
  expect(help).toMatchObject({ code: 0, err: '' });
  expect(help.out).toContain('follow <endpoint>');
  expect((await end(launch(['follow', '--help']))).out).toContain('--from INDEX');
});

test('usage errors exit with 2, failures with 1', async () => {
  const sentence = 'There is no command “fetch”. See: creel --help\n';
  expect(await end(launch(['fetch']))).toEqual({ code: 2, out: '', err: sentence });
  expect(await end(launch(['requests', 'nothing']))).toMatchObject({ code: 1, out: '' });
});

test('a closed pipe is not an error', async () => {
  const listing = launch(['requests', url, '--json', '--limit', '200']);
  listing.child.stdout?.once('data', () => listing.child.stdout?.destroy());
  expect(await end(listing)).toMatchObject({ code: 0, err: '' });
});

test('a full disk is an error', async () => {
  const full = await open('/dev/full', 'w');
  const listing = await end(launch(['requests', url], full.fd));
  await full.close();
  expect(listing).toMatchObject({ code: 1, err: "Standard output can't be written (ENOSPC).\n" });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends follow without an error', async (signal) => {
  const following = launch(['follow', url]);
  await expect.poll(() => following.text.err).toContain('Following');
  await capture(`${url}/${signal}`);
  await expect.poll(() => following.text.out).toContain(signal);
  const ended = end(following);
  following.child.kill(signal);
  expect(await ended).toEqual({ code: 0, out: expect.stringMatching(/^[^\n]*\n$/), err: expect.any(String) });
});

test('follow ends if the process that started it is killed', async () => {
  const following = launch(['follow', url], 'pipe', CREEL);
  await expect.poll(() => following.text.err).toContain('Following');
  const ended = end(following);
  following.child.kill('SIGKILL');
  // The pipes close when both processes have ended.
  expect(await ended).toMatchObject({ code: 'SIGKILL' });
});
