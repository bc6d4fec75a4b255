import { literal, MAX_FOUND } from './find-text.ts';
import type { Found } from './find-text.ts';
import { CELL, cellOf, KIND } from './json-lines.ts';
import type { JsonLines } from './json-lines.ts';

/** A match, as positions in the source. */
export interface JsonMatch extends Found {
  readonly line: number;
}

/** Finds a text in keys and scalars, ignoring case, in the order of the lines. */
export function searchJson(json: JsonLines, query: string, limit = MAX_FOUND): JsonMatch[] {
  if (query === '') return [];
  const matches: JsonMatch[] = [];
  for (const match of json.text.matchAll(literal(query))) {
    const end = match.index + match[0].length;
    const line = lineAt(json, match.index);
    if (line === undefined || !touches(json, line, match.index, end)) continue;
    matches.push({ line, start: match.index, end });
    if (matches.length >= limit) break;
  }
  return matches;
}

/** Position of a line's first character in the source. */
function beginning(json: JsonLines, line: number): number {
  const keyStart = cellOf(json, line, CELL.keyStart);
  return keyStart < 0 ? cellOf(json, line, CELL.start) : keyStart;
}

/** The last line that starts at or before a position. */
function lineAt(json: JsonLines, position: number): number | undefined {
  let low = 0;
  let high = json.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (beginning(json, middle) <= position) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? undefined : low - 1;
}

function touches(json: JsonLines, line: number, start: number, end: number): boolean {
  const inKey = start >= cellOf(json, line, CELL.keyStart) && end <= cellOf(json, line, CELL.keyEnd);
  const scalar = cellOf(json, line, CELL.kind) <= KIND.word;
  return inKey || (scalar && start >= cellOf(json, line, CELL.start) && end <= cellOf(json, line, CELL.end));
}

/** The lines to unfold so that a line is visible. */
export function linesAround(json: JsonLines, line: number): number[] {
  const around: number[] = [];
  for (let at = cellOf(json, line, CELL.parent); at >= 0; at = cellOf(json, at, CELL.parent)) around.push(at);
  return around;
}
