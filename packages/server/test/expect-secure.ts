import { expect } from 'vitest';
import type { PlainAnswer } from './plain-call.ts';

/** The security headers of every response. */
export function expectSecure({ headers }: PlainAnswer): void {
  const policy = String(headers['content-security-policy']);
  for (const directive of ["default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) {
    // A download has its own, stricter policy.
    if (policy !== "sandbox; default-src 'none'") expect(policy).toContain(directive);
  }
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
  for (const header of ['x-powered-by', 'server', 'access-control-allow-origin', 'access-control-allow-credentials']) {
    expect(headers[header]).toBeUndefined();
  }
}
