import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { buildIfStale } from './build.ts';
import { licenseTexts } from './licenses.ts';
import { fromRoot, root } from './paths.mjs';
import { serverEnvironment, serverFlags } from './server-flags.mjs';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'creel-package-'));
const creel = join(folder, 'package', 'packages', 'cli', 'creel.mjs');

await buildIfStale();
// Without `prepack`, because the build is current.
await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
await run('tar', ['-xzf', readdirSync(folder)[0] ?? ''], { cwd: folder });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts `creel` in an empty folder and waits for the URL of its server. */
async function startCreel() {
  const cwd = mkdtempSync(join(folder, 'user-'));
  const creelProcess = spawn(process.execPath, [creel], { cwd, env: { PATH: process.env['PATH'], PORT: '0' } });
  const output: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    creelProcess.stdout.on('data', (piece: Buffer) => {
      output.push(String(piece));
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output.join('')) ?? [];
      if (found !== undefined) resolve(found);
    });
    creelProcess.once('exit', () => reject(new Error(`The server ended: ${output.join('')}`)));
  });
  return { cwd, creelProcess, output, url };
}

it('starts the server from the package, in the folder of the user', async () => {
  const { cwd, creelProcess, url } = await startCreel();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(await (await fetch(url)).text()).toContain('<title>');
  const closed = new Promise((resolve) => creelProcess.once('exit', resolve));
  creelProcess.kill('SIGTERM');
  expect(await closed).toBe(0);
  expect(readdirSync(join(cwd, 'data'))).toContain('creel.db');
});

it('stops the server if the process that started it is killed', async () => {
  const { creelProcess, output } = await startCreel();
  creelProcess.kill('SIGKILL');
  // The server has the other end of the pipe.
  await once(creelProcess.stdout, 'close');
  expect(output.join('')).toContain('"msg":"stopped"');
});

it('has the command line and the administration', async () => {
  const help = await run(process.execPath, [creel, '--help']);
  expect(help.stdout).toContain('forward <endpoint> <url>');
  const env = { PATH: process.env['PATH'], DATA_DIR: join(folder, 'nowhere') };
  const stats = spawn(process.execPath, [creel, 'admin', 'stats'], { env });
  expect(await text(stats.stderr)).toContain('There is no database');
});

it('has the licenses of the libraries in it', () => {
  const file = join(folder, 'package', 'packages', 'server', 'dist', 'licenses.txt');
  expect(readFileSync(file, 'utf8')).toBe(licenseTexts());
});

it('runs in a container with the flags of npm start', () => {
  const dockerfile = readFileSync(fromRoot('Dockerfile'), 'utf8');
  const [, list = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  expect(JSON.parse(list)).toEqual(['node', ...serverFlags, 'packages/server/dist/main.js']);
  for (const [name, value] of Object.entries(serverEnvironment)) expect(dockerfile).toContain(`${name}=${value}`);
});
