import type { EndpointRecord } from '../src/database/records.ts';

/** A new endpoint as storage returns it. */
export function endpointRecord(fields: Pick<EndpointRecord, 'id' | 'uid'> & Partial<EndpointRecord>): EndpointRecord {
  return {
    userId: 1,
    name: null,
    source: null,
    createdAt: 0,
    expiresAt: null,
    autosave: false,
    isFavorite: false,
    savedCount: 0,
    unsavedCount: 0,
    capturedCount: 0,
    newestIndex: -1,
    droppedCount: 0,
    latestAt: null,
    hasDestinations: false,
    signingScheme: null,
    ...fields,
  };
}
