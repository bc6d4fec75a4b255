import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import { randomBytes } from 'node:crypto';
import type { AppContext } from '../app-context.ts';

const YEAR_S = 31_536_000;

type Directives = Record<string, string[]>;

/** The policy of every answer but the capture path's own and the pages. */
function directives(app: AppContext): Directives {
  return {
    'default-src': ["'none'"],
    // A worker's own files, whose modules come from here.
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

/** A page's own word, by which its scripts are known. */
export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

/**
 * The policy of a page: scripts and styles by this answer's nonce alone. Not `'self'`: what was captured is served from the same origin.
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

/** Security headers on every answer but the capture path's own (hardening S6). No inline script anywhere. */
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
