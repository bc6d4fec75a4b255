import { z } from 'zod';
import { storedValue } from '../../ui/stored-value.ts';

export const THEMES = ['light', 'dark', 'system'] as const;

/** Light, dark, or what the system says. */
export const themePreference = storedValue('theme', z.enum(THEMES), 'system');

const DARK = '(prefers-color-scheme: dark)';

function apply(): void {
  const theme = themePreference.read();
  const dark = theme === 'dark' || (theme === 'system' && matchMedia(DARK).matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

/** Keeps the page's theme after the preference and, where that says so, after the system. `public/before-app.js` did the first paint. */
export function followTheme(): void {
  apply();
  themePreference.subscribe(apply);
  matchMedia(DARK).addEventListener('change', apply);
}
