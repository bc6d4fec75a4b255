// Where things lie: the clone itself, and a cache outside it that survives a fresh clone.
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** The clone's root folder, whatever it is called and wherever it lies. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** Joins a path below the clone's root. */
export const at = (...parts) => join(root, ...parts);

export const isRoot = () => process.getuid?.() === 0;

/**
 * A folder outside the clone that belongs to this user alone, for what is dear to fetch: `<cache>/<name>`.
 * As root it lies where an unprivileged user can read it too (root's own home is closed to others), because
 * PostgreSQL refuses to run as root and has to be started as somebody else.
 */
export function cacheFolder(name) {
  for (const base of cacheBases()) {
    const folder = join(base, name);
    if (isOursAndWritable(base, folder)) {
      return folder;
    }
  }
  throw Object.assign(new Error('Found no folder for the cache. Set XDG_CACHE_HOME to one that you can write to.'), {
    plain: true,
  });
}

function cacheBases() {
  const temporary = join(tmpdir(), `creel-cache-${userInfo().uid}`);
  if (isRoot()) {
    return ['/var/cache/creel', temporary, '/tmp/creel-cache-0'];
  }
  const home = process.env['XDG_CACHE_HOME'] || (homedir() && join(homedir(), '.cache'));
  return home ? [join(home, 'creel'), temporary] : [temporary];
}

/** Makes the folders. A folder in a shared place that somebody else prepared (or a link to elsewhere) is not used. */
function isOursAndWritable(base, folder) {
  try {
    mkdirSync(base, { recursive: true, mode: 0o755 });
    const seen = lstatSync(base);
    const foreign = process.getuid !== undefined && seen.uid !== process.getuid();
    if (seen.isSymbolicLink() || foreign) {
      return false;
    }
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
