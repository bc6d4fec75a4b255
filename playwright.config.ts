import { defineConfig } from '@playwright/test';
import { launchOptions } from './scripts/chromium.ts';

/** These share a server with its own settings. In the first project they run beside the others and not alone after them. */
const OWN_SETTINGS = ['**/billing-off.spec.ts', '**/kept-requests.spec.ts'];

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  // Twice the cores, because tests also wait.
  workers: 4,
  // By test and not by file, so that no long file runs alone at the end.
  fullyParallel: true,
  projects: [
    { name: 'own settings', testMatch: OWN_SETTINGS, fullyParallel: false, workers: 1 },
    { name: 'same settings', testIgnore: OWN_SETTINGS },
  ],
  retries: 0,
  forbidOnly: true,
  // Long tests have many steps, and the machine may be slow. What fails ends earlier, by the limits of one step.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  reporter: [['list'], ['json', { outputFile: '.cache/playwright.json' }]],
  use: {
    browserName: 'chromium',
    headless: true,
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    screenshot: 'only-on-failure',
    // Tracing slows pages down, and some tests measure them. To trace: npm run e2e -- --trace on.
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    // Animations take a sixth of the time. The tests of focus and keyboard have them.
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: launchOptions(),
  },
});
