import { capturedRequestSchema, unsavedId } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';

/** Any unsaved request with this index. */
export function capturedAt(index: number): CapturedRequest {
  return capturedRequestSchema.parse({
    id: unsavedId(index),
    index,
    endpointId: 1,
    method: 'POST',
    path: '/',
    queryParams: {},
    headers: {},
    rawHeaders: [],
    body: null,
    bodyEncoding: 'utf8',
    bodyTruncated: false,
    contentType: null,
    size: 0,
    sourceIp: '127.0.0.1',
    timestamp: '2026-01-02T03:04:05.678Z',
    saved: false,
    source: 'Unknown',
    eventType: null,
  });
}
