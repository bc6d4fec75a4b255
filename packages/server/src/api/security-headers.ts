import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import type { AppContext } from '../app-context.ts';

const YEAR_S = 31_536_000;

/** Security headers on every answer but the capture path's own (hardening S6). No inline script anywhere. */
export async function registerSecurityHeaders(server: FastifyInstance, app: AppContext): Promise<void> {
  const overHttps = app.config.publicUrl?.startsWith('https:') ?? false;
  await server.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        // Libraries set element styles for what moves (popups, virtual rows); attributes can't be fetched from or run.
        'style-src': ["'self'", "'unsafe-inline'"],
        'img-src': ["'self'", 'data:', 'blob:'],
        'font-src': ["'self'"],
        // Test requests go to the capture URL, which may be on another origin than the page.
        'connect-src': ["'self'", ...(app.config.publicUrl === undefined ? [] : [new URL(app.config.publicUrl).origin])],
        'worker-src': ["'self'"],
        'manifest-src': ["'self'"],
        'form-action': ["'self'"],
        'base-uri': ["'none'"],
        'object-src': ["'none'"],
        'frame-ancestors': ["'none'"],
      },
    },
    crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: overHttps ? { maxAge: YEAR_S, includeSubDomains: false } : false,
    xFrameOptions: { action: 'deny' },
  });
}
