import type { FastifyInstance, FastifyReply } from 'fastify';
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

/** The policy of captured content, which may never run in a browser. */
export const SANDBOX_POLICY = "sandbox; default-src 'none'";

const NONCE_BYTES = 16;

/**
 * Sends a page whose scripts and styles need a nonce, which is random for each response. Not `'self'`, because captured
 * content is served from the same origin.
 */
export function sendHtml(reply: FastifyReply, app: AppContext, pageWith: (nonce: string) => string): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const policy = {
    ...directives(app),
    'script-src': [`'nonce-${nonce}'`, "'strict-dynamic'"],
    'style-src': ["'self'", `'nonce-${nonce}'`],
  };
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', policyText(policy))
    .send(pageWith(nonce));
}

function policyText(policy: Directives): string {
  return Object.entries(policy)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join(';');
}

/** The headers of every response except captures, with the values that OWASP recommends. */
export function securityHeaders(app: AppContext): ReadonlyMap<string, string> {
  const headers = new Map([
    ['content-security-policy', policyText(directives(app))],
    // The popup of a login provider talks to its opener.
    ['cross-origin-opener-policy', 'same-origin-allow-popups'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['origin-agent-cluster', '?1'],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
    ['x-dns-prefetch-control', 'off'],
    ['x-download-options', 'noopen'],
    ['x-frame-options', 'DENY'],
    ['x-permitted-cross-domain-policies', 'none'],
    ['x-xss-protection', '0'],
  ]);
  const overHttps = app.config.publicUrl?.startsWith('https:') ?? false;
  if (overHttps) headers.set('strict-transport-security', `max-age=${YEAR_S}`);
  return headers;
}

/** Sets security headers on every response except captures, also on those that are written without Fastify. */
export function registerSecurityHeaders(server: FastifyInstance, app: AppContext): void {
  const headers = securityHeaders(app);
  server.addHook('onRequest', (_request, reply, next) => {
    for (const [name, value] of headers) reply.raw.setHeader(name, value);
    next();
  });
}
