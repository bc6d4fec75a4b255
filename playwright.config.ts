import { defineConfig } from '@playwright/test';
import { launchOptions } from './scripts/chromium.ts';

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  // Twice the cores, because tests also wait.
  workers: 4,
  fullyParallel: false,
  retries: 0,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list'], ['json', { outputFile: '.cache/playwright.json' }]],
  use: {
    browserName: 'chromium',
    headless: true,
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
