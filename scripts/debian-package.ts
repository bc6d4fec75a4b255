// Installs programs that tests need into a Debian system: docs/decisions/0003-tooling.md.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { promisify } from 'node:util';
import { withLock } from './lock.mjs';
import { fromRoot } from './paths.mjs';

const run = promisify(execFile);

/** True for root on Debian and its relatives. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

/** Installs the first of these packages that exists: not every release has all of them. */
export async function installDebianPackage(names: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const aptGet = (...args: string[]) =>
    run('apt-get', [...args], { env }).then(
      () => true,
      () => false,
    );
  // apt-get fails if another one runs.
  await withLock(fromRoot('.cache', 'apt.lock'), {}, async () => {
    await aptGet('update', '-qq');
    for (const name of names) if (await aptGet('install', '-y', '-qq', '--no-install-recommends', name)) return;
  });
}
