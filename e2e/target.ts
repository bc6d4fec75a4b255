import { startTarget } from '../fixtures/target-server.ts';
import type { TargetServer } from '../fixtures/target-server.ts';
import { test as base } from './app.ts';

/** The `test` of app.ts with a destination server. */
export const test = base.extend<{ target: TargetServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads from the pattern what a fixture needs
  target: async ({}, use) => {
    const target = await startTarget();
    await use(target);
    await target.close();
  },
});
