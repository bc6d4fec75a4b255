import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompress } from './scripts/precompress.ts';

const server = process.env['CREEL_SERVER'] ?? 'http://127.0.0.1:3000';

/** Everything that the server answers itself; the rest is the web app's. */
const answeredByServer = ['^/api/', '^/h/', '^/ws($|\\?)', '^/(healthz|readyz|metrics)$', '^/auth/oidc'];

export default defineConfig({
  root: 'packages/web',
  plugins: [react(), tailwindcss(), precompress()],
  // The server puts the nonce of each answer's policy in its place (packages/server/src/http/static-pages.ts).
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    sourcemap: false,
    // The page's Content-Security-Policy knows neither data: URLs nor inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(
      answeredByServer.map((path) => [
        path,
        {
          target: server,
          ws: path.startsWith('^/ws'),
          // The server refuses calls from another origin; the development page is one, by its port alone.
          headers: { origin: process.env['PUBLIC_URL'] ?? server },
        },
      ]),
    ),
  },
});
