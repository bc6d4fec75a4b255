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

test('a body is not written again if its indented form would have many megabytes', async () => {
  const reasonFor = async (count: number): Promise<string | null> => {
    const signed = '['.repeat(60) + Array.from({ length: count }, () => 1).join(',') + ']'.repeat(60);
    const hex = createHmac('sha256', 'a secret').update(signed).digest('hex');
    const headers: RawHeaders = [['X-Hub-Signature-256', `sha256=${hex}`]];
    const request = { headers, body: Buffer.from(signed.replace('[', '[ ')), receivedAt: 0 };
    return (await verifySignature({ scheme: 'github', secret: 'a secret' }, request)).reason;
  };
  expect(await reasonFor(1000)).toContain('compact JSON');
  expect(await reasonFor(100_000)).toBe(REASONS.unexplained());
});
