import { LABEL_BODY_BYTES, SOURCE_HEADERS, sourceLabel } from '@creel/contract';
import type { Endpoint, EndpointDetail, RawHeaders, SourceLabel } from '@creel/contract';
import type { Config } from '../../config.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { Remote } from '../../database/remote.ts';
import { isoTime } from '../../iso-time.ts';
import type { Logger } from '../../log.ts';
import type { Live } from '../live/service.ts';
import type { EndpointDetailRecord, endpointQueries } from './queries.ts';

/** An endpoint as the API returns it. */
export function presentEndpoint(endpoint: EndpointRecord, publicUrl: string): Endpoint {
  return {
    id: endpoint.id,
    uid: endpoint.uid,
    name: endpoint.name,
    source: endpoint.source,
    userId: endpoint.userId,
    createdAt: isoTime(endpoint.createdAt),
    expiresAt: isoTime(endpoint.expiresAt),
    autosave: endpoint.autosave ? 'true' : 'false',
    isFavorite: endpoint.isFavorite ? 'true' : 'false',
    requestCount: endpoint.savedCount + endpoint.unsavedCount,
    latestRequest: isoTime(endpoint.latestAt),
    url: `${publicUrl}/h/${endpoint.uid}`,
    signing: endpoint.signingScheme && { scheme: endpoint.signingScheme },
  };
}

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
    },
    retention: {
      saved: endpoint.savedCount,
      maxSaved: maxSavedPerEndpoint,
      captured: endpoint.capturedCount,
      dropped: endpoint.droppedCount,
      maxUnsaved: maxUnsavedPerEndpoint,
      newestIndex: endpoint.newestIndex,
    },
  };
}

/** A cheap hash of a header name: its length and last character, in any case. A number is found faster than a text. */
const nameHash = (name: string): number => name.length * 128 + (name.charCodeAt(name.length - 1) | 32);
/** The hash alone rules out most headers. */
const SOURCE_HEADER_HASHES: ReadonlySet<number> = new Set([...SOURCE_HEADERS].map(nameHash));

/** The source label of a capture. Endpoints without a source run it for every capture, so it reads few headers. */
export function flatSourceLabel(flatHeaders: readonly string[], body: Buffer | null): SourceLabel {
  let found: RawHeaders | undefined;
  for (let at = 0; at < flatHeaders.length; at += 2) {
    const name = flatHeaders[at] ?? '';
    if (SOURCE_HEADER_HASHES.has(nameHash(name)) && SOURCE_HEADERS.has(name.toLowerCase()))
      (found ??= []).push([name, flatHeaders[at + 1] ?? '']);
  }
  const shop = mentionsShopify(body);
  return found === undefined && !shop ? 'Unknown' : sourceLabel(found ?? [], shop ? 'shopify' : '');
}

/** The two usual spellings, as bytes: a regular expression over every body would cost more than storing it. */
const SHOPIFY_BYTES = [Buffer.from('hopify'), Buffer.from('HOPIFY')] as const;

function mentionsShopify(body: Buffer | null): boolean {
  if (body === null) return false;
  const part = body.length > LABEL_BODY_BYTES ? body.subarray(0, LABEL_BODY_BYTES) : body;
  return SHOPIFY_BYTES.some((spelling) => part.includes(spelling));
}

interface SourceOptions {
  readonly store: Pick<Remote<typeof endpointQueries>, 'setDetectedSource'>;
  readonly live: Pick<Live, 'publish'>;
  readonly log: Logger;
}

/** Stores the first detected label of an endpoint without a source. False when it could not be stored. */
export async function storeSource(
  { store, live, log }: SourceOptions,
  endpointId: number,
  label: SourceLabel,
): Promise<boolean> {
  try {
    const isNew = await store.setDetectedSource(endpointId, label);
    if (isNew) live.publish({ kind: 'changed', endpointId });
    return true;
  } catch (error) {
    log.warn({ err: error }, 'the source of an endpoint could not be stored');
    return false;
  }
}
