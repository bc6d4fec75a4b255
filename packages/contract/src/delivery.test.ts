import { expect, test } from 'vitest';
import { deliveryReportSchema } from './delivery.ts';

test('a report has at most 64 KiB of response headers, like a response that the server reads', () => {
  const report = {
    url: 'http://a/',
    method: 'POST',
    attempt: 1,
    status: 200,
    durationMs: 1,
    at: '2026-12-01T00:00:00Z',
  };
  const isValid = (responseHeaders: object[]) => deliveryReportSchema.safeParse({ ...report, responseHeaders }).success;
  const header = { key: 'k'.repeat(24), value: 'v'.repeat(1000) };
  expect(isValid(Array.from({ length: 64 }, () => header))).toBe(true);
  expect(isValid([...Array.from({ length: 64 }, () => header), { key: 'k', value: '' }])).toBe(false);
});
