import type { Endpoint, EndpointDetail } from '@creel/contract';
import type { Config } from '../../config.ts';
import type { EndpointDetailRecord } from './queries.ts';
import type { EndpointRecord } from '../../database/records.ts';

function isoTime(millis: number | null): string | null {
  return millis === null ? null : new Date(millis).toISOString();
}

/** An endpoint as the API returns it. */
export function presentEndpoint(endpoint: EndpointRecord, publicUrl: string): Endpoint {
  return {
    id: endpoint.id,
    uid: endpoint.uid,
    name: endpoint.name,
    source: endpoint.source,
    userId: endpoint.userId,
    createdAt: new Date(endpoint.createdAt).toISOString(),
    expiresAt: isoTime(endpoint.expiresAt),
    autosave: endpoint.autosave ? 'true' : 'false',
    isFavorite: endpoint.isFavorite ? 'true' : 'false',
    requestCount: endpoint.savedCount + endpoint.unsavedCount,
    latestRequest: isoTime(endpoint.latestAt),
    url: `${publicUrl}/h/${endpoint.uid}`,
    signing: endpoint.signingScheme && { scheme: endpoint.signingScheme },
  };
}

/** How many requests an endpoint keeps. */
type RequestLimits = Pick<Config, 'maxSavedPerEndpoint' | 'maxUnsavedPerEndpoint'>;

/** The same, with statistics of all stored requests. */
export function presentEndpointDetail(
  endpoint: EndpointDetailRecord,
  publicUrl: string,
  { maxSavedPerEndpoint, maxUnsavedPerEndpoint }: RequestLimits,
): EndpointDetail {
  const total = endpoint.savedCount + endpoint.unsavedCount;
  const bytes = endpoint.methodCounts.reduce((sum, count) => sum + count.bytes, 0);
  return {
    ...presentEndpoint(endpoint, publicUrl),
    stats: {
      total,
      byMethod: Object.fromEntries(endpoint.methodCounts.map((count) => [count.method, count.stored])),
      averageSize: total === 0 ? 0 : bytes / total,
      saved: endpoint.savedCount,
      maxSaved: maxSavedPerEndpoint,
      captured: endpoint.capturedCount,
      dropped: endpoint.droppedCount,
      maxUnsaved: maxUnsavedPerEndpoint,
      newestIndex: endpoint.newestIndex,
    },
  };
}
