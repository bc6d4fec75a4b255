// Bundles the server and its worker threads into the folder that the first argument names: docs/decisions/0006-server-bundle.md.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { rolldown } from 'rolldown';
import { z } from 'zod';
import { fromRoot, root } from './paths.mjs';

/** Bundled because they consist of hundreds of small modules. All other dependencies stay outside. */
const bundled = new Set(['@creel/contract', 'kysely', 'zod']);

const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });
const manifest = await readFile(fromRoot('packages', 'server', 'package.json'), 'utf8');
const { dependencies } = manifestSchema.parse(JSON.parse(manifest));
const external = Object.keys(dependencies).filter((name) => !bundled.has(name));

const bundle = await rolldown({
  cwd: root,
  input: {
    main: 'packages/server/src/main.ts',
    'storage-thread': 'packages/server/src/database/sqlite/thread.ts',
    'scan-thread': 'packages/server/src/database/postgres/scan-thread.ts',
    'replay-thread': 'packages/server/src/features/replay/replay-thread.ts',
  },
  platform: 'node',
  external: [/^node:/, ...external, ...external.map((name) => new RegExp(`^${name}/`))],
});
await bundle.write({
  dir: z.string().parse(process.argv[2]),
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'shared-[hash].js',
});
