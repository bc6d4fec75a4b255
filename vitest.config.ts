import { accessSync } from 'node:fs';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { brotliDecoder, fromRoot } from './scripts/paths.mjs';

/** In `npm test`, servers in a test's process use the threads of the bundle, as servers in their own process do. */
const bundledThreads = {
  find: /^.*\/workers\/worker-file\.ts$/,
  replacement: fromRoot('packages', 'server', 'test', 'bundled-worker-file.ts'),
};

const ALL = [
  'packages/**/*.test.{ts,tsx}',
  'fixtures/**/*.test.ts',
  'scripts/**/*.test.{ts,mjs}',
  'bench/**/*.test.ts',
];

/** These run again with two nodes that the clients call by turns (packages/server/test/test-server.ts). */
const TWO_NODES = [
  'accounts/login',
  'accounts/profile',
  'billing/stripe',
  'billing/test-gateway',
  'capture/own-cookies',
  'deliveries/deliveries',
  'deliveries/destinations',
  'endpoints/endpoints',
  'live/live-access',
  'live/live-feed',
  'replay/replay',
  'requests/export',
  'requests/requests',
  'search/search',
  'settings/settings',
  'signatures/signatures',
].map((name) => `packages/server/src/features/${name}.test.ts`);
// A file that has moved would be left out without a word.
for (const file of TWO_NODES) accessSync(fromRoot(file));

export default defineConfig({
  resolve: { alias: brotliDecoder },
  test: {
    projects: [
      { extends: true, test: { name: 'all', include: ALL } },
      { extends: true, test: { name: 'two nodes', include: TWO_NODES, env: { TEST_STORE: 'two-nodes' } } },
    ],
    alias: process.env['CREEL_SERVER_PROGRAM'] === undefined ? [] : [bundledThreads],
    globalSetup: './scripts/vitest-setup.ts',
    // Tests use real servers and databases on two shared cores, so a short timeout would fail by chance.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The default of one second fails by chance on a busy machine. At load 28 on two cores, so did 30 s.
    expect: { poll: { timeout: 100_000 } },
    // Three times the cores, because tests wait more than half of the time.
    maxWorkers: 6,
    // Test files share the modules of their process. Loading them again for each file doubles the processor time of most.
    isolate: false,
    retry: 0,
    allowOnly: false,
    passWithNoTests: false,
    restoreMocks: true,
    // Off unless `--coverage` is given. Does not include servers that tests start as processes.
    coverage: {
      provider: 'v8',
      include: ['packages/server/src/**/*.ts'],
      exclude: ['**/*.{test,suite}.ts'],
      reporter: ['text-summary', 'html'],
      reportsDirectory: '.cache/coverage',
    },
    unstubEnvs: true,
    unstubGlobals: true,
  },
  oxc: { jsx: { runtime: 'automatic' } },
});
