// Selected items stand out, and the endpoint page fits windows of every width.
import type { Locator, Page } from '@playwright/test';
import { expect, pressEscape, test } from './app.ts';
import { changeEndpoint, detailsOf, filterField, goLive, openLive, row, sendJson } from './endpoints.ts';

const background = (element: Locator): Promise<string> =>
  element.evaluate((shown) => {
    // Without this, the test would compare colors in the middle of a transition.
    for (const animation of shown.ownerDocument.getAnimations()) animation.finish();
    return shown.ownerDocument.defaultView?.getComputedStyle(shown).backgroundColor ?? '';
  });

/** Changes the theme of the system, and waits until the page has followed, because its colors are read only once. */
async function changeTheme(page: Page, theme: 'light' | 'dark', contrastOfSystem: 'more' | null = null): Promise<void> {
  await page.emulateMedia({ colorScheme: theme, contrast: contrastOfSystem });
  await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
}

test('selected items stand out at every width', async ({ page, endpoint }) => {
  await test.step('the selected row keeps its color under the pointer', async () => {
    await sendJson(endpoint.url, { a: 1 }, '/orders/7');
    await openLive(page, endpoint, '?request=0');
    await expect(row(page, 0)).toHaveAttribute('aria-selected', 'true');
    const content = row(page, 0).locator('> div');
    await page.getByRole('heading', { level: 1 }).hover();
    const selected = await background(content);
    await content.hover();
    expect(await background(content)).toBe(selected);
  });

  await test.step('the active tab stands out from the page, light and dark', async () => {
    await expect(row(page, 0)).toHaveAttribute('aria-selected', 'true');
    for (const theme of ['light', 'dark'] as const) {
      await changeTheme(page, theme);
      const active = page.getByRole('tab', { name: 'JSON' });
      const other = page.getByRole('tab', { name: 'Raw' });
      const color = (tab: Locator): Promise<string> =>
        tab.evaluate((shown) => shown.ownerDocument.defaultView?.getComputedStyle(shown).color ?? '');
      const ground = await background(page.locator('body'));
      expect(distance(await background(active), ground)).toBeGreaterThan(20);
      expect(distance(await color(active), await color(other))).toBeGreaterThan(80);
    }
  });

  await test.step('a contrast theme of the system shows what is chosen and what is on', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    const ground = await background(page.locator('body'));
    const chosen = [
      page.getByRole('tab', { name: 'JSON' }),
      row(page, 0),
      page.getByRole('complementary').getByRole('link', { name: 'Journey' }),
    ];
    for (const one of chosen) expect(distance(await background(one), ground), one.toString()).toBeGreaterThan(80);
    const headers = page.getByRole('tab', { name: 'Headers' });
    await headers.click();
    const count = await headers.evaluate(
      (tab) => tab.ownerDocument.defaultView?.getComputedStyle(tab, '::after').color ?? '',
    );
    expect(contrast(count, await background(headers)), 'the count of the chosen tab').toBeGreaterThanOrEqual(4.5);
    await page.getByRole('tab', { name: 'JSON' }).click();
    const autosave = page.getByRole('switch', { name: 'Autosave' });
    const [track, thumb] = [await background(autosave), await background(autosave.locator('span'))];
    expect(distance(thumb, track)).toBeGreaterThan(80);
    await expect(autosave).toHaveCSS('border-top-width', '1px');
    await page.keyboard.press('ControlOrMeta+k');
    const option = page.getByRole('option', { selected: true });
    expect(distance(await background(option), ground)).toBeGreaterThan(80);
    await pressEscape(page);
    await page.emulateMedia({ forcedColors: 'none' });
  });

  await test.step('more contrast on request of the system: text of 7, borders of 3', async () => {
    for (const theme of ['light', 'dark'] as const) {
      await changeTheme(page, theme, 'more');
      const ground = await background(page.locator('body'));
      const styleOf = (element: Locator, name: 'color' | 'borderTopColor'): Promise<string> =>
        element.evaluate(
          (shown, wanted) => shown.ownerDocument.defaultView?.getComputedStyle(shown)[wanted] ?? '',
          name,
        );
      const time = row(page, 0).locator('time');
      expect(contrast(await styleOf(time, 'color'), ground), `text, ${theme}`).toBeGreaterThanOrEqual(7);
      const field = filterField(page);
      expect(contrast(await styleOf(field, 'borderTopColor'), ground), `border, ${theme}`).toBeGreaterThanOrEqual(3);
    }
    await page.emulateMedia({ colorScheme: null, contrast: null });
  });

  await test.step('below 1000 px the list has the full width, and the details are above it beside the sidebar', async () => {
    await changeEndpoint(page, endpoint, { name: 'Payments of the shop' });
    await goLive(page, endpoint);
    const name = page.getByRole('heading', { level: 1, name: 'Payments of the shop' });
    const filters = page.getByRole('tablist', { name: 'Filter by method' }).getByRole('tab');
    const url = page.getByRole('region', { name: 'Endpoint URL' }).locator('code > span');
    const details = detailsOf(page, 0);
    for (const width of [768, 900, 999]) {
      await page.setViewportSize({ width, height: 900 });
      await expect(row(page, 0).getByText('/orders/7')).toBeInViewport({ ratio: 1 });
      const tops = await filters.evaluateAll((tabs) => tabs.map((tab) => tab.getBoundingClientRect().top));
      expect(new Set(tops).size, `lines of filters at ${width} px`).toBe(1);
      expect(await url.evaluateAll((parts) => parts.every((part) => part.scrollWidth <= part.clientWidth))).toBe(true);
      expect(await name.evaluate((title) => title.scrollWidth <= title.clientWidth), `name at ${width} px`).toBe(true);

      await row(page, 0).click();
      await expect(details.getByRole('tab')).toHaveText(['JSON', 'Headers', 'Query Params', 'Raw', 'Deliveries']);
      for (const tab of await details.getByRole('tab').all()) await expect(tab).toBeInViewport({ ratio: 1 });
      await expect(page.getByRole('complementary', { name: 'Sidebar' })).toBeInViewport({ ratio: 1 });
      await page.getByRole('button', { name: 'Back to the list' }).click();
      await expect(details).toHaveCount(0);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await row(page, 0).click();
    await expect(details.getByRole('tab', { name: 'Deliveries' })).toBeInViewport({ ratio: 1 });
    await page.keyboard.press('r');
    const header = page.getByRole('textbox', { name: 'Name of header 2' });
    await expect(header).toHaveValue('X-Webhook-Source');
    expect(await header.evaluate((field) => field.scrollWidth <= field.clientWidth), 'a header name').toBe(true);
  });
});

const parts = (color: string): number[] => (color.match(/\d+/g) ?? []).slice(0, 3).map(Number);

/** The contrast of two colors, 1 to 21 (WCAG 2.2, section 6, contrast ratio). */
function contrast(one: string, two: string): number {
  const luminance = (color: string): number => {
    const [red = 0, green = 0, blue = 0] = parts(color).map((part) =>
      part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [darker = 0, lighter = 0] = [luminance(one), luminance(two)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Distance of two colors: the sum of the differences in red, green and blue, 0 to 765. */
function distance(one: string, two: string): number {
  const other = parts(two);
  return parts(one).reduce((sum, part, at) => sum + Math.abs(part - (other[at] ?? 0)), 0);
}
