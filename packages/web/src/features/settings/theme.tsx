import { Monitor, Moon, Sun } from 'lucide-react';
import { z } from 'zod';
import { storedValue } from '../../ui/state.ts';

/** Light, dark, or the theme of the system. */
export const themePreference = storedValue('theme', z.enum(['light', 'dark', 'system']), 'system');

export const THEMES = [
  { value: 'light', label: 'Light', icon: <Sun /> },
  { value: 'dark', label: 'Dark', icon: <Moon /> },
  { value: 'system', label: 'System', icon: <Monitor /> },
] as const;

const DARK = '(prefers-color-scheme: dark)';

function apply(): void {
  const theme = themePreference.read();
  const dark = theme === 'dark' || (theme === 'system' && matchMedia(DARK).matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

/**
 * Applies the theme when the preference or the system changes. `public/before-app.js` has set it for the first paint.
 */
export function followTheme(): void {
  apply();
  themePreference.subscribe(apply);
  matchMedia(DARK).addEventListener('change', apply);
}
