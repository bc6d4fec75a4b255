import { firstPosition } from './first-position.ts';

/** A match, as positions in the text. */
export interface Found {
  readonly start: number;
  readonly end: number;
}

/** Maximum number of matches. */
export const MAX_FOUND = 10_000;

/** Matches a text literally, by default without regard to case. */
export function literal(text: string, flags = 'gi'): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), flags);
}

/** All matches of a text, in order, without overlaps. */
export function findText(text: string, wanted: string, flags?: 'g'): Found[] {
  if (wanted === '') return [];
  const found: Found[] = [];
  for (const match of text.matchAll(literal(wanted, flags))) {
    found.push({ start: match.index, end: match.index + match[0].length });
    if (found.length >= MAX_FOUND) break;
  }
  return found;
}

/** A piece of text with the number of the match that it belongs to, if any. */
interface MarkedPiece {
  readonly text: string;
  readonly ordinal: number | undefined;
  readonly at: number;
}

/** Splits a text that starts at `offset` into matches and the text between them. */
export function markPieces(text: string, offset: number, found: readonly Found[], firstOrdinal = 0): MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  let at = 0;
  found.forEach(({ start, end }, ordinal) => {
    const from = Math.max(at, start - offset);
    const to = Math.min(text.length, end - offset);
    if (to <= from) return;
    if (from > at) pieces.push({ text: text.slice(at, from), ordinal: undefined, at });
    pieces.push({ text: text.slice(from, to), ordinal: firstOrdinal + ordinal, at: from });
    at = to;
  });
  if (at < text.length) pieces.push({ text: text.slice(at), ordinal: undefined, at });
  return pieces;
}

/** The range of sorted matches that touch a range of positions: the first one and the one after the last. */
export function foundWithin(found: readonly Found[], start: number, end: number): readonly [number, number] {
  return [
    firstPosition(found.length, (at) => (found[at]?.end ?? 0) > start),
    firstPosition(found.length, (at) => (found[at]?.start ?? 0) >= end),
  ];
}
