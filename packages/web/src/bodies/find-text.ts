/** A place in a text, as positions in it. */
export interface Found {
  readonly start: number;
  readonly end: number;
}

/** Places that are shown at most. */
export const MAX_FOUND = 10_000;

/** Matches a text as it stands, without regard to case. */
export function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), 'gi');
}

/** Every place where a text stands, in order, none over another. */
export function findText(text: string, wanted: string, limit = MAX_FOUND): Found[] {
  if (wanted === '') return [];
  const found: Found[] = [];
  for (const match of text.matchAll(literal(wanted))) {
    found.push({ start: match.index, end: match.index + match[0].length });
    if (found.length >= limit) break;
  }
  return found;
}

/** A piece of a text with the number of the place it belongs to, or none. */
export interface MarkedPiece {
  readonly text: string;
  readonly place: number | undefined;
  readonly at: number;
}

/** Cuts a text that stands at `offset` into what is found in it and what lies between. */
export function markPieces(text: string, offset: number, found: readonly Found[], firstPlace = 0): MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  let at = 0;
  found.forEach(({ start, end }, place) => {
    const from = Math.max(at, start - offset);
    const to = Math.min(text.length, end - offset);
    if (to <= from) return;
    if (from > at) pieces.push({ text: text.slice(at, from), place: undefined, at });
    pieces.push({ text: text.slice(from, to), place: firstPlace + place, at: from });
    at = to;
  });
  if (at < text.length) pieces.push({ text: text.slice(at), place: undefined, at });
  return pieces;
}

/** The positions of the first and behind the last of the sorted places that touch a stretch. */
export function foundWithin(found: readonly Found[], start: number, end: number): readonly [number, number] {
  return [firstWhere(found, (place) => place.end > start), firstWhere(found, (place) => place.start >= end)];
}

function firstWhere(found: readonly Found[], holds: (place: Found) => boolean): number {
  let low = 0;
  let high = found.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = found[middle];
    if (place !== undefined && !holds(place)) low = middle + 1;
    else high = middle;
  }
  return low;
}
