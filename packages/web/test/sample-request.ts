import type { CapturedRequest } from '@creel/contract';
import { eventType, sourceLabel, unsavedId } from '@creel/contract';

/** A captured request for tests: unsaved and empty by default. */
export function sampleRequest(index: number, change: Partial<CapturedRequest> = {}): CapturedRequest {
  const saved = change.saved ?? false;
  const rawHeaders = change.rawHeaders ?? [['Host', 'localhost']];
  const text = change.bodyEncoding === 'base64' ? '' : (change.body ?? '');
  return {
    id: saved ? index + 1 : unsavedId(index),
    index,
    endpointId: 1,
    method: 'POST',
    path: '/',
    queryParams: {},
    headers: {},
    rawHeaders,
    body: null,
    bodyEncoding: 'utf8',
    bodyTruncated: false,
    contentType: null,
    size: 0,
    sourceIp: '127.0.0.1',
    timestamp: '2026-11-21T08:00:00.000Z',
    saved,
    source: sourceLabel(rawHeaders, text),
    eventType: eventType(rawHeaders, text),
    lastDelivery: null,
    deliveryPending: false,
    ...change,
  };
}
