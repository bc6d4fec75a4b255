// Runs before the app and before the first paint. It is a separate file because the page's policy allows no inline
// scripts.

// Sets a chosen theme before the first paint, so that the other one never flashes. src/features/settings/theme.tsx
// takes over.
{
  let chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem('theme'));
  } catch {
    // Storage is blocked or holds an invalid value: follow the system.
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

// zod tries `new Function` for each schema to see whether it can compile faster parsers. The policy forbids that, and
// the browser would report each try as a violation. This switches it off under zod's global name, because other chunks
// create schemas before main.tsx runs.
Reflect.set(globalThis, '__zod_globalConfig', { jitless: true });

// While nodes of two versions run, the file that a page needs may be asked of a node that does not have it
// (docs/operations.md, "Stopping and upgrading"). Each try needs fewer files, because those that came are cached. Later,
// a reload would discard what the user has typed, and a script of a browser extension may fail too.
const FIRST_FILES = 'script[src^="/assets/"], link[rel=stylesheet][href^="/assets/"]';
addEventListener(
  'error',
  ({ target }) => {
    if (document.readyState !== 'complete' && target instanceof Element && target.matches(FIRST_FILES))
      setTimeout(() => location.reload(), 1000);
  },
  // Such an event does not bubble.
  { capture: true },
);
