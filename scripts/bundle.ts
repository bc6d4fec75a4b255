// Bundles the server or the command line with all its packages (docs/decisions/0006-server-bundle.md).
// Usage: bundle.ts server|cli FOLDER
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';
import { z } from 'zod';
import { fromRoot, root } from './paths.mjs';

const commands = readdirSync(fromRoot('packages/cli/src/commands')).filter((file) => !file.endsWith('.test.ts'));

/** Entry points by the name of the file that they become. Threads and commands are loaded by their file name. */
const entries = {
  server: {
    main: 'packages/server/src/main.ts',
    admin: 'packages/server/src/admin/main.ts',
    'storage-thread': 'packages/server/src/database/sqlite/thread.ts',
    'scan-thread': 'packages/server/src/database/postgres/scan-thread.ts',
    'replay-thread': 'packages/server/src/features/replay/replay-thread.ts',
  },
  cli: {
    main: 'packages/cli/src/main.ts',
    ...Object.fromEntries(
      commands.map((file) => [`commands/${file.replace(/\.ts$/, '')}`, `packages/cli/src/commands/${file}`]),
    ),
  },
};

/**
 * An import of a built-in module evaluates all its exports. Some of these two load more when they are read, such as undici, which would
 * take a third of the start of every thread. The bundle has their other exports.
 */
const eagerModules = ['crypto', 'http'];
const withoutLazyExports: Plugin = {
  name: 'without-lazy-exports',
  // Packages import them with and without `node:`.
  resolveId(id) {
    const name = id.replace(/^node:/, '');
    return eagerModules.includes(name) ? `\0node:${name}` : undefined;
  },
  load(id) {
    const name = id.replace('\0node:', '');
    if (!eagerModules.includes(name)) return undefined;
    const values = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)));
    const names = values.filter(([, { get }]) => get === undefined).map(([each]) => each);
    const code = `const all = process.getBuiltinModule('${name}'); export default all; export const { ${names.join(', ')} } = all;`;
    return { code, moduleSideEffects: false };
  },
};

const [target, dir] = z.tuple([z.enum(['server', 'cli']), z.string()]).parse(process.argv.slice(2));
const bundle = await rolldown({
  cwd: root,
  input: entries[target],
  platform: 'node',
  plugins: [withoutLazyExports],
  // Optional native parts of pg and ws, which are not installed.
  external: [/^node:(?!crypto$|http$)/, 'pg-native', 'bufferutil', 'utf-8-validate'],
});
await bundle.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' });
