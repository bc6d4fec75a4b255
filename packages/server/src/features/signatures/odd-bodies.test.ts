import type { RawHeaders } from '@creel/contract';
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
