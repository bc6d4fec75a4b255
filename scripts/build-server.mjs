// Bundles what the server runs of our own code, with the two libraries that come in hundreds of small modules, into
// packages/server/dist. Four threads each load less: 100 MB of memory and a second of start-up, measured against running the
// sources (docs/decisions/0006-server-bundle.md). Everything else stays an ordinary dependency.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { rolldown } from 'rolldown';
import { at, root } from './places.mjs';

const bundled = new Set(['@creel/contract', 'kysely', 'zod']);

const manifest = JSON.parse(await readFile(at('packages', 'server', 'package.json'), 'utf8'));
const external = Object.keys(manifest.dependencies).filter((name) => !bundled.has(name));

const bundle = await rolldown({
  cwd: root,
  input: {
    main: 'packages/server/src/main.ts',
    'storage-thread': 'packages/server/src/storage/sqlite/thread.ts',
    'scan-thread': 'packages/server/src/storage/postgres/scan-thread.ts',
    'replay-thread': 'packages/server/src/replay/replay-thread.ts',
  },
  platform: 'node',
  external: [/^node:/, ...external, ...external.map((name) => new RegExp(`^${name}/`))],
});
await bundle.write({
  dir: process.argv[2],
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'shared-[hash].js',
});
