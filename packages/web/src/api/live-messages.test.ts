import { afterEach, expect, test, vi } from 'vitest';
import { sampleRequest } from '../../../../fixtures/sample-request.ts';
import { onRequestChange } from './list-cache.ts';
import type { RequestChange } from './list-cache.ts';
import { applyToCache } from './live-messages.ts';
import { queryClient } from './query-client.ts';

afterEach(() => queryClient.clear());

test('a stream of captures does not call those who follow saves and deletions', () => {
  const onChange = vi.fn<(change: RequestChange) => void>();
  const stop = onRequestChange(onChange);
  const saved = sampleRequest(1, { id: 7, saved: true });
  applyToCache('uid', [{ type: 'request', data: sampleRequest(2) }]);
  expect(onChange).not.toHaveBeenCalled();
  applyToCache('uid', [
    { type: 'saved', data: { oldId: -2, request: saved } },
    { type: 'deleted', data: { id: 5 } },
  ]);
  stop();
  applyToCache('uid', [{ type: 'deleted', data: { id: 6 } }]);
  expect(onChange.mock.calls).toEqual([
    [{ uid: 'uid', saved: [saved], deleted: new Set() }],
    [{ uid: 'uid', saved: [], deleted: new Set([5]) }],
  ]);
});
