import type { Attempt } from '../src/features/deliveries/attempt-queries.ts';

/** A delivery's first attempt, which a destination answered with 200. */
export function deliveryAttempt(fields: Partial<Attempt>): Attempt {
  return {
    endpointId: 1,
    index: 0,
    deliveryId: '',
    kind: 'forward',
    destinationId: 1,
    url: 'http://127.0.0.1:9/',
    method: 'POST',
    attempt: 1,
    status: 200,
    statusText: 'OK',
    error: null,
    durationMs: 1.5,
    at: 0,
    nextAttemptAt: null,
    responseHeaders: [],
    responseBody: null,
    responseTruncated: false,
    ...fields,
  };
}
