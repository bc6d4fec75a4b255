import { tryDecode } from '@creel/contract';
import { literal, MAX_FOUND } from './find-text.ts';
import type { Found } from './find-text.ts';
import { firstPosition } from './first-position.ts';

/** What a line of formatted JSON contains. */
export const KIND = {
  string: 0,
  number: 1,
  word: 2,
  openObject: 3,
  openArray: 4,
  closeObject: 5,
  closeArray: 6,
  emptyObject: 7,
  emptyArray: 8,
} as const;
export type LineKind = (typeof KIND)[keyof typeof KIND];

/** The columns of a line in `cells`. Positions count UTF-16 code units of the source. */
export const CELL = {
  depth: 0,
  keyStart: 1,
  keyEnd: 2,
  start: 3,
  end: 4,
  kind: 5,
  comma: 6,
  /** Line of the closing bracket; -1 if there is none. */
  fold: 7,
  /** Line of the enclosing opening bracket; -1 at the top level. */
  parent: 8,
  /** Number of values in an opened bracket. */
  size: 9,
  /** Position among the values of its parent. */
  ordinal: 10,
} as const;
const CELLS_PER_LINE = 11;

/**
 * Formatted JSON as lines that point into the source text. Nothing is decoded, so digits, key order, repeated keys and
 * escapes stay as sent. All lines are in one typed array, which a worker can transfer without copying.
 */
export interface JsonLines {
  readonly text: string;
  readonly count: number;
  /** Number of top-level values; more than one only for a sequence. */
  readonly values: number;
  readonly cells: Int32Array;
  /** `text`: the source ended before the value did. `lines`: there were more lines than the maximum. */
  readonly ended: 'complete' | 'text' | 'lines';
}

/** One number about a line; -1 for a line that does not exist. */
export function cellOf(json: JsonLines, line: number, cell: number): number {
  return json.cells[line * CELLS_PER_LINE + cell] ?? -1;
}

/** The lines while the JSON is read. */
export class LineTable {
  count = 0;
  private cells = new Int32Array(256 * CELLS_PER_LINE);

  /** Adds a line without a key, and returns its number. */
  add(kind: LineKind, start: number, end: number, depth: number, parent: number): number {
    const line = this.count++;
    if (this.cells.length < this.count * CELLS_PER_LINE) this.grow();
    const base = line * CELLS_PER_LINE;
    const { cells } = this;
    cells[base + CELL.depth] = depth;
    cells[base + CELL.keyStart] = -1;
    cells[base + CELL.keyEnd] = -1;
    cells[base + CELL.start] = start;
    cells[base + CELL.end] = end;
    cells[base + CELL.kind] = kind;
    cells[base + CELL.fold] = -1;
    cells[base + CELL.parent] = parent;
    return line;
  }

  /** A cell of a line; -1 for the line -1, which is no line. */
  get(line: number, cell: number): number {
    return line < 0 ? -1 : (this.cells[line * CELLS_PER_LINE + cell] ?? -1);
  }

  set(line: number, cell: number, value: number): void {
    this.cells[line * CELLS_PER_LINE + cell] = value;
  }

  finish(): Pick<JsonLines, 'count' | 'cells'> {
    return { count: this.count, cells: this.cells.slice(0, this.count * CELLS_PER_LINE) };
  }

  private grow(): void {
    const cells = new Int32Array(this.cells.length * 2);
    cells.set(this.cells);
    this.cells = cells;
  }
}

const BRACKETS: Partial<Record<number, string>> = {
  [KIND.openObject]: '{',
  [KIND.openArray]: '[',
  [KIND.closeObject]: '}',
  [KIND.closeArray]: ']',
  [KIND.emptyObject]: '{}',
  [KIND.emptyArray]: '[]',
};

const KINDS: readonly LineKind[] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

export type JsonLine = ReturnType<typeof lineOf>;

/** One line for rendering, with its texts cut from the JSON. */
export function lineOf(json: JsonLines, line: number) {
  const cell = (name: number): number => cellOf(json, line, name);
  const kind = KINDS[cell(CELL.kind)] ?? KIND.word;
  const fold = cell(CELL.fold);
  return {
    line,
    depth: cell(CELL.depth),
    /** The key as in the source, with quotes and escapes. */
    key: cell(CELL.keyStart) < 0 ? undefined : json.text.slice(cell(CELL.keyStart), cell(CELL.keyEnd)),
    keyStart: cell(CELL.keyStart),
    kind,
    /** The scalar as in the source, or a bracket. */
    text: BRACKETS[kind] ?? json.text.slice(cell(CELL.start), cell(CELL.end)),
    start: cell(CELL.start),
    comma: cell(CELL.comma) === 1,
    /** Line of the closing bracket, if this line opens one. */
    foldsTo: fold < 0 ? undefined : fold,
    size: cell(CELL.size),
  };
}

/** The numbers of the visible lines. A folded line hides all lines up to its closing bracket. */
export function visibleLines(json: JsonLines, folded: ReadonlySet<number>): Uint32Array {
  const lines = new Uint32Array(json.count);
  let seen = 0;
  for (let line = 0; line < json.count; line++) {
    lines[seen++] = line;
    if (folded.has(line)) line = Math.max(line, cellOf(json, line, CELL.fold));
  }
  return lines.subarray(0, seen);
}

/** The source of a value; for an opening bracket the whole object or array. */
export function sourceOf(json: JsonLines, line: number): string {
  return json.text.slice(cellOf(json, line, CELL.start), cellOf(json, line, CELL.end));
}

/** The key of a line; `undefined` for items of an array and for the whole. */
export function keyOf(json: JsonLines, line: number): string | undefined {
  const start = cellOf(json, line, CELL.keyStart);
  return start < 0 ? undefined : unquote(json.text.slice(start, cellOf(json, line, CELL.keyEnd)));
}

/** The text to copy for a value: the characters of a string, the source of everything else. */
export function valueToCopy(json: JsonLines, line: number): string {
  const source = sourceOf(json, line);
  return cellOf(json, line, CELL.kind) === KIND.string ? unquote(source) : source;
}

/** The path to a value in code syntax: `data.items[0]["odd key"]`; `$` for the whole. */
export function pathOf(json: JsonLines, line: number): string {
  const steps: string[] = [];
  for (let at = line; cellOf(json, at, CELL.parent) >= 0; at = cellOf(json, at, CELL.parent)) {
    const keyStart = cellOf(json, at, CELL.keyStart);
    steps.push(
      keyStart < 0
        ? `[${cellOf(json, at, CELL.ordinal)}]`
        : keyStep(json.text.slice(keyStart, cellOf(json, at, CELL.keyEnd))),
    );
  }
  if (steps.length === 0) return '$';
  const path = steps.toReversed().join('');
  return path.startsWith('.') ? path.slice(1) : path;
}

function keyStep(source: string): string {
  const key = unquote(source);
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** The characters of a string in JSON. Of one that is cut, what is after its quotation mark. */
export function unquote(source: string): string {
  return tryDecode(() => String(JSON.parse(source))) ?? source.slice(1);
}

/** A match, as positions in the source. */
export interface JsonMatch extends Found {
  readonly line: number;
}

/** Finds a text in keys and scalars, ignoring case, in the order of the lines. */
export function searchJson(json: JsonLines, query: string): JsonMatch[] {
  if (query === '') return [];
  const matches: JsonMatch[] = [];
  for (const match of json.text.matchAll(literal(query))) {
    const end = match.index + match[0].length;
    const line = lineAt(json, match.index);
    if (line === undefined || !touches(json, line, match.index, end)) continue;
    matches.push({ line, start: match.index, end });
    if (matches.length >= MAX_FOUND) break;
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
  const after = firstPosition(json.count, (line) => beginning(json, line) > position);
  return after === 0 ? undefined : after - 1;
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
