// Provides programs of the system that tests need, and installs them into a Debian system: docs/decisions/0003-tooling.md.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { withLock } from './lock.mjs';
import { log, SetupError } from './log.mjs';
import { fromRoot } from './paths.mjs';

/** Debian's packages have the same names. */
export type SystemProgram = 'nats-server' | 'nginx' | 'pgbouncer';

/** The path of the program, or `undefined` if there is none. Debian puts it where not every user's PATH leads. */
function findProgram(name: SystemProgram): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** The path of the program. @throws SetupError if there is none */
export function requireProgram(name: SystemProgram): string {
  const path = findProgram(name);
  if (path === undefined) throw new SetupError(`There is no ${name}. Install it, so that PATH has it.`);
  return path;
}

/** Installs the program if there is none. @throws SetupError if that is not possible */
export async function provideProgram(name: SystemProgram): Promise<void> {
  if (findProgram(name) === undefined && canInstallPackages()) {
    log(`Installing ${name} into this system (apt-get install).`);
    await installDebianPackage(name);
  }
  requireProgram(name);
}

const run = promisify(execFile);

/** True for root on Debian and its relatives. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

/** Installs a package, if this release of Debian has it. */
export async function installDebianPackage(name: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const aptGet = (...args: string[]) => run('apt-get', args, { env }).catch(() => undefined);
  // apt-get fails if another one runs.
  await withLock(fromRoot('.cache', 'apt.lock'), {}, async () => {
    await aptGet('update', '-qq');
    await aptGet('install', '-y', '-qq', '--no-install-recommends', name);
  });
}
