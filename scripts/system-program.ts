// Provides programs of the system that tests need: docs/decisions/0003-tooling.md.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { canInstallPackages, installDebianPackage } from './debian-package.ts';
import { log, SetupError } from './log.mjs';

/** Debian's packages have the same names. */
export type SystemProgram = 'nats-server' | 'nginx';

/** The path of the program, or `undefined` if there is none. Debian puts it where not every user's PATH leads. */
export function findProgram(name: SystemProgram): string | undefined {
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
    await installDebianPackage([name]);
  }
  requireProgram(name);
}
