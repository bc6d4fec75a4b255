import type { SearchableRequest } from './searchable-request.ts';

/** A request for tests: by default an empty POST to `/`. A body that is text is encoded as UTF-8. */
export function sampleSearchable(
  change: Partial<Omit<SearchableRequest, 'body'>> & { readonly body?: string | Uint8Array | null } = {},
): SearchableRequest {
  const { body = null, ...rest } = change;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return {
    method: 'POST',
    target: '',
    rawHeaders: [],
    size: bytes?.length ?? 0,
    source: () => 'Unknown',
    eventType: () => null,
    sourceIp: '192.0.2.1',
    receivedAt: Date.UTC(2026, 10, 22, 10),
    saved: false,
    ...rest,
    body: () => bytes,
  };
}
