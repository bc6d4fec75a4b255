// What axe says of a page, in the light and in the dark (design 7).
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from '@playwright/test';
import type { Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The axe that comes with its builder. */
const AXE = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);

/** The ground of a page in either theme (`--bg` of packages/web/src/styles.css): who sees it knows that the theme has arrived. */
const GROUNDS = [
  ['light', 'rgb(251, 250, 248)'],
  ['dark', 'rgb(20, 19, 17)'],
] as const;

/** Looks at what the page shows in the light and in the dark: loading it anew for either costs more than looking. */
export async function expectNoFindings(page: Page, what: string): Promise<void> {
  for (const [colorScheme, ground] of GROUNDS) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator('body'), `${what}, ${colorScheme}`).toHaveCSS('background-color', ground);
    expect.soft(await seriousFindings(page), `${what}, ${colorScheme}`).toEqual([]);
  }
}

/**
 * What axe finds of serious or critical weight. Legacy mode spares a page of its own for each look, which only frames from elsewhere
 * need; there are none. The builder would hand half a megabyte of axe to the page twice for each look; once for each document is enough.
 */
async function seriousFindings(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) !== 'object') await page.evaluate(AXE);
  const axe = new AxeBuilder({ page, axeSource: ';' }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
