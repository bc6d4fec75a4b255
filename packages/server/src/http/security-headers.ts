import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import { randomBytes } from 'node:crypto';
import type { AppContext } from '../app-context.ts';

const YEAR_S = 31_536_000;

type Directives = Record<string, string[]>;

/** The policy of every response except captures and pages. */
function directives(app: AppContext): Directives {
  return {
    'default-src': ["'none'"],
    // The files of workers, whose modules are on this origin.
    'script-src': ["'self'"],
    'style-src': ["'self'"],
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
  };
}

const NONCE_BYTES = 16;

/** A random value that authorizes the scripts and styles of one response. */
export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

/**
 * The policy of a page: scripts and styles only with this response's nonce. Not `'self'`, because captured content is
 * served from the same origin.
 */
export function pagePolicy(app: AppContext, nonce: string): string {
  const policy = {
    ...directives(app),
    'script-src': [`'nonce-${nonce}'`, "'strict-dynamic'"],
    'style-src': ["'self'", `'nonce-${nonce}'`],
  };
  return Object.entries(policy)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join(';');
}

/** Sets security headers on every response except captures. Inline scripts are never allowed. */
export async function registerSecurityHeaders(server: FastifyInstance, app: AppContext): Promise<void> {
  const overHttps = app.config.publicUrl?.startsWith('https:') ?? false;
  await server.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: directives(app) },
    crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: overHttps ? { maxAge: YEAR_S, includeSubDomains: false } : false,
    xFrameOptions: { action: 'deny' },
  });
}
