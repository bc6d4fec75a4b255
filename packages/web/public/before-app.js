// Runs before the app and before the first paint. A file of its own: the page's policy allows no inline script.

// A chosen theme never flashes the other one. src/preferences/theme.ts takes over from here.
{
  let chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem('theme'));
  } catch {
    // Storage is closed to us or holds nonsense: follow the system.
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

// zod tries `new Function` as soon as a schema is made, to see whether it may build faster parsers; the policy forbids it, and each
// try would be reported as a breach. Set here, under zod's own global name, because the bundle's chunks make schemas before main.tsx
// can say anything.
Reflect.set(globalThis, '__zod_globalConfig', { jitless: true });
