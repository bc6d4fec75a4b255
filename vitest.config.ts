import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/**/*.test.{ts,tsx}',
      'fixtures/**/*.test.ts',
      'scripts/**/*.test.{ts,mjs}',
      'bench/**/*.test.ts',
    ],
    globalSetup: './scripts/vitest-setup.ts',
    // Tests use real servers and databases on two shared cores, so a short timeout would fail by chance.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // One more than the cores, because many tests wait for timeouts and restarts.
    maxWorkers: 3,
    retry: 0,
    allowOnly: false,
    passWithNoTests: false,
    restoreMocks: true,
    // Off unless `--coverage` is given. Does not include servers that tests start as processes.
    coverage: {
      provider: 'v8',
      include: ['packages/server/src/**/*.ts'],
      exclude: ['**/*.{test,suite}.ts', '**/{testing,durability}/**'],
      reporter: ['text-summary', 'html'],
      reportsDirectory: '.cache/coverage',
    },
    unstubEnvs: true,
  },
  oxc: { jsx: { runtime: 'automatic' } },
});
