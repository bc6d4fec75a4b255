import { describe, expect, test } from 'vitest';
import { capturedRequestSchema, indexOfUnsavedId, unsavedId } from './captured-request.ts';

describe('ids of unsaved requests', () => {
  test.each([
    [0, -1_000_000],
    [1, -1_000_001],
    [12, -1_000_012],
    [999_999, -1_999_999],
    [5_000_000, -6_000_000],
  ])('index %d has the id %d, and back', (index, id) => {
    expect(unsavedId(index)).toBe(id);
    expect(indexOfUnsavedId(id)).toBe(index);
  });

  test.each([
    -999_999,
    -1,
    0,
    1,
    1_000_000,
    -1_000_000.5,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    Number.MIN_SAFE_INTEGER * 4,
  ])('no unsaved request can have the id %d', (id) => {
    expect(indexOfUnsavedId(id)).toBeUndefined();
  });
});

describe('a captured request', () => {
  const request = {
    id: -1_000_000,
    index: 0,
    endpointId: 1,
    method: 'POST',
    path: '/',
    queryParams: { a: '1', b: ['2', '3'] },
    headers: { host: 'h' },
    rawHeaders: [['Host', 'h']],
    body: null,
    bodyEncoding: 'utf8',
    bodyTruncated: false,
    contentType: null,
    size: 0,
    sourceIp: '127.0.0.1',
    timestamp: '2026-01-01T00:00:00.000Z',
    saved: false,
    source: 'Unknown',
    eventType: null,
    lastDelivery: null,
    deliveryPending: false,
  };

  test('is unchanged by parsing, without the fields that a newer server adds', () => {
    expect(capturedRequestSchema.parse({ ...request, tomorrow: 1 })).toEqual(request);
  });

  test.each([
    ['a fractional id', { id: 1.5 }],
    ['a header that is no pair', { rawHeaders: [['Host']] }],
    ['another encoding', { bodyEncoding: 'latin1' }],
    ['a time without a zone', { timestamp: '2026-01-01T00:00:00' }],
    ['a missing part', { saved: undefined }],
  ])('%s does not pass', (_what, change) => {
    expect(capturedRequestSchema.safeParse({ ...request, ...change }).success).toBe(false);
  });

  test('a header named __proto__ is kept and changes no prototype', () => {
    const headers: unknown = JSON.parse('{"__proto__": "x", "constructor": "y"}');
    const parsed = capturedRequestSchema.parse({ ...request, headers });
    expect(Object.getPrototypeOf(parsed.headers)).toSatisfy(
      (prototype) => prototype === null || prototype === Object.prototype,
    );
    expect(parsed.headers['constructor']).toBe('y');
  });
});
