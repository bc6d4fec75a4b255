import { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { MemoryBudget } from '../../limits/memory-budget.ts';
import { TokenBucket } from '../../limits/rate-limits.ts';
import { createPlainAdmit } from './capture-handler.ts';
import type { CaptureDependencies } from './capture-handler.ts';
import type { CaptureReply } from '../../http/plain-request.ts';
import type { CaptureResult } from './capture-writer.ts';
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
  isStale: false,
};
const dependencies: CaptureDependencies = {
  endpoints: { peek: () => endpoint, lookup: async () => endpoint },
  budget: new MemoryBudget({ bytes: 1000 }),
  writer: { push: () => true },
  maxBodyBytes: 5000,
  clientAddressOf: () => '',
  now: () => 0,
  metrics: { countRead: () => undefined, countLogged: () => undefined, countFailed: () => undefined },
  detectSource: () => undefined,
  onStored: () => undefined,
  onLookupFailure: () => undefined,
};

const head = { method: 'POST', target: '/h/u', flatHeaders: [], headLength: 0, keepsAlive: true };

const unlimited = { peek: () => ({ ...endpoint, bucket: undefined }), lookup: async () => endpoint };

test.each<[name: string, bytes: number, outcome: CaptureResult | 'full']>([
  ['for lack of memory', 2000, 'full'],
  ['because too many wait', 10, 'full'],
  ['because it was not stored in time', 10, 'failed'],
])('a capture that is answered with 503 %s is counted once, and holds no memory', (_, bytes, outcome) => {
  const budget = new MemoryBudget({ bytes: 1000 });
  const countFailed = vi.fn<() => void>();
  const refused = vi.fn<(refusal: unknown) => void>();
  const admit = createPlainAdmit({
    ...dependencies,
    endpoints: unlimited,
    budget,
    metrics: { ...dependencies.metrics, countFailed },
    writer: {
      push: (_capture, done) => {
        if (outcome !== 'full') done(outcome);
        return outcome !== 'full';
      },
    },
  });
  const verdict = admit({ ...head, bodyLength: bytes }, new Socket(), bytes);
  if ('capture' in verdict) verdict.capture(Buffer.alloc(bytes), { captured: () => undefined, refused });
  else refused(verdict);
  expect(refused.mock.calls).toEqual([[{ code: 'CAPTURE_UNAVAILABLE', retryAfter: 1 }]]);
  expect(countFailed).toHaveBeenCalledOnce();
  expect(budget.used).toBe(0);
});

test('a body that exceeds the memory while it arrives is answered with 503 and counted', () => {
  const countFailed = vi.fn<() => void>();
  const metrics = { ...dependencies.metrics, countFailed };
  const admit = createPlainAdmit({ ...dependencies, endpoints: unlimited, metrics });
  const verdict = admit({ ...head, bodyLength: 2000 }, new Socket(), 0);
  if (!('capture' in verdict)) throw new Error('It was not admitted.');
  expect(verdict.reservation.grow(2000)).toBe(false);
  expect(verdict.refuseForMemory()).toEqual({ code: 'CAPTURE_UNAVAILABLE', retryAfter: 1 });
  expect(countFailed).toHaveBeenCalledOnce();
});

test('a capture without memory takes nothing of the rate limit, and one beyond the limit no memory', () => {
  const admit = createPlainAdmit(dependencies);
  const admitted = (count: number, bytes: number): string[] =>
    Array.from({ length: count }, () => {
      const verdict = admit({ ...head, bodyLength: bytes }, new Socket(), bytes);
      return 'code' in verdict ? verdict.code : 'admitted';
    });
  expect(new Set(admitted(20, 2000))).toEqual(new Set(['CAPTURE_UNAVAILABLE']));
  expect(admitted(11, 5)).toEqual([...Array.from({ length: 10 }, () => 'admitted'), 'RATE_LIMITED']);
  expect(dependencies.budget.used).toBe(10 * 5);
});

test('a sender whose capture is in the overflow log gets its challenge', () => {
  const captured = vi.fn<CaptureReply['captured']>();
  const push: CaptureDependencies['writer']['push'] = (_capture, done) => {
    done('logged');
    return true;
  };
  const verdict = createPlainAdmit({ ...dependencies, endpoints: unlimited, writer: { push } })(
    { ...head, bodyLength: 0 },
    new Socket(),
    0,
  );
  if (!('capture' in verdict)) throw new Error('It was not admitted.');
  verdict.capture(Buffer.from('{"type":"url_verification","challenge":"abc"}'), {
    captured,
    refused: () => undefined,
  });
  expect(captured.mock.calls).toEqual([[undefined, 'abc']]);
});

test('a lookup that fails is answered with 503, counted and reported', async () => {
  const countFailed = vi.fn<() => void>();
  const onLookupFailure = vi.fn<(error: unknown) => void>();
  const away = new Error('away');
  const endpoints = { peek: () => undefined, lookup: () => Promise.reject(away) };
  const metrics = { ...dependencies.metrics, countFailed };
  const admit = createPlainAdmit({ ...dependencies, endpoints, metrics, onLookupFailure });
  await expect(admit({ ...head, bodyLength: 0 }, new Socket(), 0)).resolves.toEqual({
    code: 'CAPTURE_UNAVAILABLE',
    retryAfter: 1,
  });
  expect(countFailed).toHaveBeenCalledOnce();
  expect(onLookupFailure.mock.calls).toEqual([[away]]);
});
