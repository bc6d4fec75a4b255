import { PROBLEMS } from '@creel/contract';
import type { Duplex } from 'node:stream';
import { problemBody, problemOf } from './problem.ts';
import { rawHead } from './raw-response.ts';

/**
 * Milliseconds for a rejected client to read the response and hang up. The HTTP server's timeouts don't apply to an
 * upgrade.
 */
const REFUSED_MS = 1000;

/**
 * Rejects an upgrade over HTTP because of an error, and closes. Reads and discards what the client sent after its
 * request, so that a reset does not discard the response.
 */
export function refuseUpgrade(socket: Duplex, error: unknown): void {
  const { code, details = {} } = problemOf(error) ?? { code: 'INTERNAL' };
  const { status } = PROBLEMS[code];
  const body = JSON.stringify(problemBody(code, details));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    ...(details.retryAfter === undefined ? {} : { 'retry-after': String(details.retryAfter) }),
  };
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(rawHead(status, Object.entries(headers).flat(), false) + body);
}
