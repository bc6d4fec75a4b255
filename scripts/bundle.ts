// Bundles the server or the command line with all its packages (docs/decisions/0006-server-bundle.md).
// Usage: bundle.ts server|cli FOLDER
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { rolldown } from 'rolldown';
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

const [target, dir] = z.tuple([z.enum(['server', 'cli']), z.string()]).parse(process.argv.slice(2));
const bundle = await rolldown({
  cwd: root,
  input: entries[target],
  platform: 'node',
  // Optional native parts of pg and ws, which are not installed.
  external: [/^node:/, 'pg-native', 'bufferutil', 'utf-8-validate'],
});
await bundle.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' });
