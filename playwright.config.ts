import { defineConfig } from '@playwright/test';
import { browserArguments } from './scripts/chromium.mjs';

const chromium = process.env['CREEL_CHROMIUM'];

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  // Pages keep a core busy while they load and wait after it: two at once take two thirds of the time on two cores.
  workers: 2,
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
    // Tracing slows the page down, and some journeys measure it. By hand: npm run e2e -- --trace on.
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    launchOptions: { args: browserArguments, ...(chromium ? { executablePath: chromium } : {}) },
  },
});
