import { sourceLabel } from '@creel/contract';
import type { RawHeaders, SourceLabel } from '@creel/contract';

/** Headers that the rules look at, by the length of their names, so that all others cost one comparison. */
const NAMED = new Map([
  [10, 'user-agent'],
  [14, 'x-github-event'],
  [15, 'x-shopify-topic'],
]);
/** How much of a body is looked at. */
const BODY_BYTES = 64 * 1024;

/**
 * The contract's label of a capture, from the flat list that the parser made. An endpoint whose sender nobody knows is asked this for
 * every capture, so only what the rules look at is handed on.
 */
export function flatSourceLabel(flatHeaders: readonly string[], body: Buffer | null): SourceLabel {
  const telling: RawHeaders = [];
  for (let at = 0; at < flatHeaders.length; at += 2) {
    const name = flatHeaders[at] ?? '';
    if (NAMED.get(name.length) === name.toLowerCase()) telling.push([name, flatHeaders[at + 1] ?? '']);
  }
  return sourceLabel(telling, namesShop(body) ? 'shopify' : '');
}

/** The two usual spellings, searched as bytes: a regular expression over every body would cost more than storing it. */
function namesShop(body: Buffer | null): boolean {
  if (body === null) return false;
  const part = body.length > BODY_BYTES ? body.subarray(0, BODY_BYTES) : body;
  return part.includes('hopify', 0, 'latin1') || part.includes('HOPIFY', 0, 'latin1');
}
