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
    // Real servers and databases on two shared cores; what is slow says so by its own figures, not by a short fuse.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // One more than cores: many tests wait for time-outs and restarts.
    maxWorkers: 3,
    retry: 0,
    allowOnly: false,
    passWithNoTests: false,
    restoreMocks: true,
    unstubEnvs: true,
  },
  oxc: { jsx: { runtime: 'automatic' } },
});
