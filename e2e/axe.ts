// Accessibility checks with axe, in the light and dark themes.
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from '@playwright/test';
import type { Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The source of axe from the dependency of @axe-core/playwright. */
const AXE = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);

/** The rules that depend on colors. The dark theme changes nothing else, so other rules would only find the same again. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Each theme with its background (`--bg` in packages/web/src/styles.css), to wait until it is applied, and its rules, by default all. */
const THEMES = [
  { colorScheme: 'light', background: 'rgb(251, 250, 248)', rules: undefined },
  { colorScheme: 'dark', background: 'rgb(20, 19, 17)', rules: COLOR_RULES },
] as const;

/**
 * Checks the page in both themes without loading it again, which would take longer than the check.
 * @param part selector of the part that is new, if the rest of the page was checked before. A check of the endpoint page takes a second
 */
export async function expectNoFindings(page: Page, what: string, part = 'html'): Promise<void> {
  for (const { colorScheme, background, rules } of THEMES) {
    // Without transitions, axe can't see a color between two themes.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('body'), `${what}, ${colorScheme}`).toHaveCSS('background-color', background);
    expect.soft(await seriousFindings(page, part, rules), `${what}, ${colorScheme}`).toEqual([]);
  }
}

/**
 * Returns the serious and critical violations. Legacy mode opens no extra page, which only cross-origin frames need. The builder would
 * inject half a megabyte of axe twice for each check, so this injects it once for each document.
 */
async function seriousFindings(page: Page, part: string, rules?: string[]): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) !== 'object') await page.evaluate(AXE);
  const axe = new AxeBuilder({ page, axeSource: ';' })
    .setLegacyMode()
    .include(part)
    .options({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
