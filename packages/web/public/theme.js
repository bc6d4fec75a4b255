// Runs before the first paint, so that a chosen theme never flashes the other one. A file of its own: the page's policy allows no
// inline script. src/preferences/theme.ts takes over from here.
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
