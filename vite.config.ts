import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { brotliDecoder } from './scripts/paths.mjs';
import { precompress } from './scripts/precompress.ts';

const server = process.env['CREEL_SERVER'] ?? 'http://127.0.0.1:3000';

/** Paths that the server handles. All others belong to the web app. */
const answeredByServer = ['^/api/', '^/h/', '^/ws($|\\?)', '^/(healthz|readyz|metrics)$', '^/auth/oidc'];

export default defineConfig({
  root: 'packages/web',
  plugins: [react(), tailwindcss(), precompress()],
  resolve: { alias: brotliDecoder },
  // The server replaces this with the nonce of each response (packages/server/src/http/static-pages.ts).
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    sourcemap: false,
    // The page's Content-Security-Policy allows neither data: URLs nor inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file for what every page loads and one for what several pages share: a page loads with a third of the requests.
    // Only the pages of the account have billing.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'index', tags: ['$initial'] },
            { name: 'shared', minShareCount: 2, test: (id) => !id.includes('/features/billing/') },
          ],
        },
      },
    },
  },
  // The decoder for brotli is a chunk of its own.
  worker: { format: 'es' },
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
          // The server rejects calls from another origin. The development page has another origin because of its port.
          headers: { origin: process.env['PUBLIC_URL'] ?? server },
        },
      ]),
    ),
  },
});
