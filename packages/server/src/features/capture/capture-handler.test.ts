import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { MemoryBudget } from '../../limits/memory-budget.ts';
import { TokenBucket } from '../../limits/rate-limits.ts';
import { createPlainAdmit } from './capture-handler.ts';
import type { CaptureDependencies } from './capture-handler.ts';
import type { CachedEndpoint } from './endpoint-cache.ts';

const endpoint: CachedEndpoint = {
  id: 1,
  uid: 'u',
  userId: 1,
  expiresAt: null,
  needsSource: false,
  hasDestinations: false,
  bucket: new TokenBucket(1, () => 0),
  readAt: 0,
  isExpired: false,
};
const dependencies: CaptureDependencies = {
  endpoints: { peek: () => endpoint, lookup: async () => endpoint },
  budget: new MemoryBudget({ bytes: 1000 }),
  writer: { push: () => true },
  maxBodyBytes: 5000,
  clientAddressOf: () => '',
  now: () => 0,
  metrics: { countRead: () => undefined, countLogged: () => undefined },
  detectSource: () => undefined,
  onStored: () => undefined,
  onLookupFailure: () => undefined,
};

test('a capture without memory takes nothing of the rate limit', () => {
  const admit = createPlainAdmit(dependencies);
  const head = { method: 'POST', target: '/h/u', flatHeaders: [], headLength: 0, keepsAlive: true };
  const admitted = (count: number, bytes: number): string[] =>
    Array.from({ length: count }, () => {
      const verdict = admit({ ...head, bodyLength: bytes }, new Socket(), bytes);
      return 'code' in verdict ? verdict.code : 'admitted';
    });
  expect(new Set(admitted(20, 2000))).toEqual(new Set(['CAPTURE_UNAVAILABLE']));
  expect(admitted(11, 0)).toEqual([...Array.from({ length: 10 }, () => 'admitted'), 'RATE_LIMITED']);
});
