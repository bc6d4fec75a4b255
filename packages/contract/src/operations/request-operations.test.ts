import { expect, test } from 'vitest';
import { requestOperations } from './request-operations.ts';

const RESTORED = {
  index: 0,
  method: 'GET',
  rawTarget: '',
  body: null,
  bodyEncoding: 'utf8',
  sourceIp: '::1',
  timestamp: '2026-11-29T00:00:00Z',
};

test('the headers of a restored request are read up to the first wrong one', () => {
  const later = new Proxy([], {
    get() {
      throw new Error('read');
    },
  });
  const { body } = requestOperations.restoreRequest;
  for (const line of [1, ['a'], ['a b', 'c'], ['a', '\n']]) {
    const { error } = body.safeParse({ ...RESTORED, rawHeaders: [line, later] });
    expect(error?.issues).toMatchObject([
      { path: ['rawHeaders'], message: 'rawTarget and rawHeaders must be as they were received' },
    ]);
  }
  expect(body.safeParse({ ...RESTORED, rawHeaders: [['a', 'b']] }).success).toBe(true);
});
