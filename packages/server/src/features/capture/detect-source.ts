import { LABEL_BODY_BYTES, SOURCE_HEADERS, sourceLabel } from '@creel/contract';
import type { RawHeaders, SourceLabel } from '@creel/contract';
import type { CaptureServiceOptions } from './service.ts';

/** The length of the name alone rules out most headers. */
const LENGTHS: ReadonlySet<number> = new Set([...SOURCE_HEADERS].map((name) => name.length));

/**
 * The source label of a capture, from the parser's flat header list. Endpoints without a source run this for every
 * capture, so it examines only the headers that the rules need.
 */
export function flatSourceLabel(flatHeaders: readonly string[], body: Buffer | null): SourceLabel {
  let telling: RawHeaders | undefined;
  for (let at = 0; at < flatHeaders.length; at += 2) {
    const name = flatHeaders[at] ?? '';
    if (mayTell(name)) (telling ??= []).push([name, flatHeaders[at + 1] ?? '']);
  }
  const shop = namesShop(body);
  return telling === undefined && !shop ? 'Unknown' : sourceLabel(telling ?? [], shop ? 'shopify' : '');
}

/** True for the name of a header that the rules examine. */
function mayTell(name: string): boolean {
  return LENGTHS.has(name.length) && SOURCE_HEADERS.has(name.toLowerCase());
}

/** Searches the two usual spellings as bytes: a regular expression over every body would cost more than storing it. */
function namesShop(body: Buffer | null): boolean {
  if (body === null) return false;
  const part = body.length > LABEL_BODY_BYTES ? body.subarray(0, LABEL_BODY_BYTES) : body;
  return part.includes('hopify', 0, 'latin1') || part.includes('HOPIFY', 0, 'latin1');
}

/**
 * Stores the label that was detected first on an endpoint without a source. Called after the sender was answered. False
 * when it could not be stored.
 */
export async function storeSource(
  { store, live, log }: Pick<CaptureServiceOptions, 'store' | 'live' | 'log'>,
  endpointId: number,
  label: SourceLabel,
): Promise<boolean> {
  try {
    const isNew = await store.setDetectedSource(endpointId, label);
    if (isNew) live.publish(endpointId, { type: 'changed' });
    return true;
  } catch (error) {
    log.warn({ err: error }, 'the source of an endpoint could not be stored');
    return false;
  }
}
