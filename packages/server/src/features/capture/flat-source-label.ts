import { LABEL_BODY_BYTES, SOURCE_HEADERS, sourceLabel } from '@creel/contract';
import type { RawHeaders, SourceLabel } from '@creel/contract';

/** Most headers are told apart by the length of their name alone. */
const LENGTHS: ReadonlySet<number> = new Set([...SOURCE_HEADERS].map((name) => name.length));

/**
 * The contract's label of a capture, from the flat list that the parser made. An endpoint whose sender nobody knows is asked this for
 * every capture, so only what the rules look at is handed on, and where there is nothing of it the answer is at hand.
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

/** True for the name of a header that the rules look at. */
function mayTell(name: string): boolean {
  return LENGTHS.has(name.length) && SOURCE_HEADERS.has(name.toLowerCase());
}

/** The two usual spellings, searched as bytes: a regular expression over every body would cost more than storing it. */
function namesShop(body: Buffer | null): boolean {
  if (body === null) return false;
  const part = body.length > LABEL_BODY_BYTES ? body.subarray(0, LABEL_BODY_BYTES) : body;
  return part.includes('hopify', 0, 'latin1') || part.includes('HOPIFY', 0, 'latin1');
}
