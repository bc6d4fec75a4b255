import type { RawHeaders } from '@creel/contract';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { REASONS } from './reasons.ts';
import { verifySignature } from './service.ts';

test('a mismatch is explained in linear time for a string without an end', async () => {
  const body = Buffer.from(`"${'\\"'.repeat(128 * 1024 - 1)}`);
  const headers: RawHeaders = [['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`]];
  const request = { headers, body, receivedAt: 0 };
  expect(await verifySignature({ scheme: 'github', secret: 'a secret' }, request)).toEqual({
    scheme: 'github',
    verdict: 'invalid',
    reason: REASONS.unexplained(),
  });
});

/** The reason for a signature of numbers in nested arrays, whose body has one space more. */
async function reasonFor(count: number, depth: number): Promise<string | null> {
  const signed = '['.repeat(depth) + Array.from({ length: count }, () => 1).join(',') + ']'.repeat(depth);
  const hex = createHmac('sha256', 'a secret').update(signed).digest('hex');
  const headers: RawHeaders = [['X-Hub-Signature-256', `sha256=${hex}`]];
  const request = { headers, body: Buffer.from(signed.replace('[', '[ ')), receivedAt: 0 };
  return (await verifySignature({ scheme: 'github', secret: 'a secret' }, request)).reason;
}

test('a body is not written again if its indented form would have many megabytes', async () => {
  expect(await reasonFor(1000, 60)).toContain('compact JSON');
  expect(await reasonFor(100_000, 60)).toBe(REASONS.unexplained());
});

test('a body is not written again if it has many times the values of a usual one', async () => {
  expect(await reasonFor(30_000, 1)).toContain('compact JSON');
  expect(await reasonFor(130_000, 1)).toBe(REASONS.unexplained());
});
