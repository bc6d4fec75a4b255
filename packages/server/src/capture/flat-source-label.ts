import { sourceLabel } from '@creel/contract';
import type { RawHeaders, SourceLabel } from '@creel/contract';

/** How much of a body is looked at. */
const BODY_BYTES = 64 * 1024;

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

/** Whether the rules look at a header of this name; told by its length first, so that most cost one comparison. */
function mayTell(name: string): boolean {
  switch (name.length) {
    case 10:
      return name.toLowerCase() === 'user-agent';
    case 14:
      return name.toLowerCase() === 'x-github-event';
    case 15:
      return name.toLowerCase() === 'x-shopify-topic';
    default:
      return false;
  }
}

/** The two usual spellings, searched as bytes: a regular expression over every body would cost more than storing it. */
function namesShop(body: Buffer | null): boolean {
  if (body === null) return false;
  const part = body.length > BODY_BYTES ? body.subarray(0, BODY_BYTES) : body;
  return part.includes('hopify', 0, 'latin1') || part.includes('HOPIFY', 0, 'latin1');
}
