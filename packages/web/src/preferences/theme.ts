import { themePreference } from './preferences.ts';

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
