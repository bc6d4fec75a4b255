/**
 * `npm run screens`: takes a screenshot of every screen and state in four sizes, light and dark, into `screens/`:
 *
 *     npm run screens -- [part of a name…]
 *
 * Exits with 1 if a scene could not be set up.
 */
import { chromium } from '@playwright/test';
import type { Page } from '@playwright/test';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchOptions } from '../../scripts/chromium.ts';
import { DESKTOP, PHONE } from '../pages.ts';
import { accountScenes } from './account-scenes.ts';
import { billingScenes } from './billing-scenes.ts';
import { deliveryScenes } from './delivery-scenes.ts';
import { endpointScenes } from './endpoint-scenes.ts';
import { replayScenes } from './replay-scenes.ts';
import type { Scene } from './scene.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';

const folder = join(import.meta.dirname, '..', '..', 'screens');
const SIZES = [
  DESKTOP,
  { width: 1024, height: 768 },
  PHONE,
  // 1440x900 at a zoom of 200%.
  { width: 720, height: 450 },
] as const;
type Size = (typeof SIZES)[number];
const SCHEMES = ['light', 'dark'] as const;
const NARROW = 768;
/** Transitions are over after this time. */
const SETTLED_MS = 120;

async function main(wanted: readonly string[]): Promise<number> {
  const all = [...endpointScenes, ...replayScenes, ...deliveryScenes, ...accountScenes, ...billingScenes];
  const scenes = wanted.length === 0 ? all : all.filter(({ name }) => wanted.some((part) => name.includes(part)));
  if (scenes.length === 0) {
    console.error(`No screen is called ${wanted.join(', ')}. There are: ${all.map(({ name }) => name).join(', ')}`);
    return 2;
  }
  if (wanted.length === 0) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const browser = await chromium.launch(launchOptions());
  const stage = await setStage(browser);
  let [taken, failed] = [0, 0];
  try {
    for (const scene of scenes) {
      try {
        const sizes = SIZES.filter(({ width }) => scene.narrowOnly !== true || width < NARROW);
        if (scene.perSize === true)
          for (const size of sizes) taken += await takeAll(scene, [size], await scene.play(openingAt(stage, size)));
        else taken += await takeAll(scene, sizes, await scene.play(stage));
      } catch (error) {
        failed++;
        console.error(`✗ ${scene.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  } finally {
    await browser.close();
    await stage.close();
  }
  console.log(`${taken} pictures of ${scenes.length - failed} screens and states are in ${folder}.`);
  return failed === 0 ? 0 : 1;
}

/** The stage, with all pages in the given size. */
function openingAt(stage: Stage, size: Size): Stage {
  return {
    ...stage,
    async open(...visit) {
      const page = await stage.open(...visit);
      await page.setViewportSize(size);
      return page;
    },
  };
}

/** Takes screenshots of a scene in each size and color scheme. Returns their number. */
async function takeAll({ name }: Scene, sizes: readonly Size[], page: Page): Promise<number> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.locator(`html[data-theme="${colorScheme}"]`).waitFor({ state: 'attached' });
      await sleep(SETTLED_MS);
      await page.screenshot({ path: join(folder, `${name}.${size.width}.${colorScheme}.png`) });
    }
  }
  await page.close();
  return sizes.length * SCHEMES.length;
}

process.exitCode = await main(process.argv.slice(2));
