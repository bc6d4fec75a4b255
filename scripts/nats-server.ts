// Provides the nats-server of tests: docs/decisions/0003-tooling.md.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { canInstallPackages, installDebianPackage } from './debian-package.ts';
import { log, SetupError } from './log.mjs';

/** The path of nats-server, or `undefined` if there is none. Debian puts it where not every user's PATH leads. */
export function findNatsServer(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path));
}

/** Installs nats-server if there is none. @throws SetupError if that is not possible */
export async function provideNatsServer(): Promise<void> {
  if (findNatsServer() !== undefined) return;
  if (canInstallPackages()) {
    log('Installing nats-server into this system (apt-get install).');
    await installDebianPackage(['nats-server']);
  }
  if (findNatsServer() === undefined) throw new SetupError('There is no nats-server. Install it, so that PATH has it.');
}
