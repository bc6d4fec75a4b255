import { diffArrays, diffWordsWithSpace } from 'diff';
import { KIND, lineOf, unquote } from '../../../bodies/json-lines.ts';
import type { JsonLine, JsonLines } from '../../../bodies/json-lines.ts';

/** A line of a diff: in both texts, only in the left, or only in the right. */
export interface DiffLine {
  readonly mark: 'same' | 'left' | 'right';
  readonly text: string;
  /** Line numbers from 1, on the sides that contain the line. */
  readonly left: number | undefined;
  readonly right: number | undefined;
}

/** Milliseconds after which a diff is aborted. Two long and different texts would take minutes. */
const LINES_TIME_MS = 1500;

/** Diffs two texts by line; `undefined` if they are too long and too different. */
export function diffLines(left: readonly string[], right: readonly string[]): DiffLine[] | undefined {
  const changes = diffArrays([...left], [...right], { timeout: LINES_TIME_MS });
  if (changes === undefined) return undefined;
  const lines: DiffLine[] = [];
  let leftAt = 0;
  let rightAt = 0;
  for (const { added, removed, value } of changes) {
    for (const text of value) {
      if (removed) lines.push({ mark: 'left', text, left: ++leftAt, right: undefined });
      else if (added) lines.push({ mark: 'right', text, left: undefined, right: ++rightAt });
      else lines.push({ mark: 'same', text, left: ++leftAt, right: ++rightAt });
    }
  }
  return lines;
}

/** A name and its values on both sides, in order. */
export type FieldDiff = ReturnType<typeof diffFields>[number];

type Fields = readonly (readonly [string, string])[];

/**
 * Compares fields by name, in the order of the left side, then those that only the right side has. `keyOf` decides
 * which names are equal.
 */
export function diffFields(left: Fields, right: Fields, keyOf = (name: string): string => name) {
  const byKey = (fields: Fields) => Map.groupBy(fields, ([name]) => keyOf(name));
  const [ours, theirs] = [byKey(left), byKey(right)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].map((key) => {
    const [onLeft, onRight] = [ours.get(key) ?? [], theirs.get(key) ?? []];
    const [[name] = [key]] = [...onLeft, ...onRight];
    const [leftValues, rightValues] = [onLeft.map(([, value]) => value), onRight.map(([, value]) => value)];
    const same = JSON.stringify(leftValues) === JSON.stringify(rightValues);
    return { name, left: leftValues, right: rightValues, same };
  });
}

/** Compares headers. Names are case-insensitive (RFC 9110, section 5.1). */
export function diffHeaders(left: Fields, right: Fields): FieldDiff[] {
  return diffFields(left, right, (name) => name.toLowerCase());
}

/** Lines that are side by side. */
export interface DiffRow {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

/** Pairs removed lines with added ones, so that they are side by side. */
export function sideBySide(lines: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      rows.push({ left: removed[at], right: added[at] });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.mark === 'left') removed.push(line);
    else if (line.mark === 'right') added.push(line);
    else {
      flush();
      rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}

/** A part of a text; `changed` if the other text does not have it. */
export interface TextPart {
  readonly text: string;
  readonly changed: boolean;
}

/** Milliseconds after which long texts count as different in whole. */
const WORDS_TIME_MS = 50;

/** Below this share of common characters, marking single words would only confuse. */
const MIN_COMMON_SHARE = 0.25;

/** Compares two texts word by word. Texts with little in common are marked as a whole. */
export function diffWords(left: string, right: string) {
  const isChanged = left !== right;
  const whole = { left: unlessIndent(left, isChanged), right: unlessIndent(right, isChanged) };
  if (!isChanged) return whole;
  const changes = diffWordsWithSpace(left, right, { timeout: WORDS_TIME_MS });
  if (changes === undefined) return whole;
  const common = changes.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length), 0);
  if (common < MIN_COMMON_SHARE * Math.max(left.length, right.length)) return whole;
  return {
    left: changes.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, changed: removed })),
    right: changes.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, changed: added })),
  };
}

/** The whole text as changed, except for its indentation. */
function unlessIndent(text: string, changed: boolean): TextPart[] {
  const indent = /^\s*/.exec(text)?.[0] ?? '';
  const parts = [
    { text: indent, changed: false },
    { text: text.slice(indent.length), changed },
  ];
  return parts.filter((part) => part.text !== '');
}

/** Deeper objects keep their key order. */
const MAX_SORTED_DEPTH = 200;

/** Maximum number of levels by which lines are indented. */
const MAX_INDENT = 40;

/**
 * The lines of formatted JSON for a comparison. They have no commas, so that a value is the same whether or not another
 * one follows. With `sortsKeys` the members of each object are in the order of their keys; of duplicate keys, the first
 * stays first.
 */
export function jsonDiffLines(json: JsonLines, sortsKeys: boolean): string[] {
  const lines = Array.from({ length: json.count }, (_, line) => lineOf(json, line));
  // The brackets of cut JSON are not closed, so its members can't be told apart.
  const ordered = sortsKeys && json.ended === 'complete' ? sortMembers(lines) : lines;
  return ordered.map(({ depth, key, text }) => {
    const indent = '  '.repeat(Math.min(depth, MAX_INDENT));
    return `${indent}${key === undefined ? '' : `${key}: `}${text}`;
  });
}

function sortMembers(lines: readonly JsonLine[]): JsonLine[] {
  const sorted: JsonLine[] = [];
  const add = (from: number, to: number): void => {
    for (let at = from; at < to;) {
      const line = lines[at];
      if (line === undefined) return;
      const end = line.foldsTo ?? at;
      sorted.push(line);
      if (end > at) {
        if (line.kind === KIND.openObject && line.depth < MAX_SORTED_DEPTH) {
          for (const member of membersByKey(lines, at + 1, end)) add(member, endOf(lines, member) + 1);
        } else if (line.depth < MAX_SORTED_DEPTH) add(at + 1, end);
        else sorted.push(...lines.slice(at + 1, end));
        sorted.push(...lines.slice(end, end + 1));
      }
      at = end + 1;
    }
  };
  add(0, lines.length);
  return sorted;
}

function endOf(lines: readonly JsonLine[], line: number): number {
  return lines[line]?.foldsTo ?? line;
}

/** The first lines of the members between two lines, sorted by key. */
function membersByKey(lines: readonly JsonLine[], from: number, to: number): number[] {
  const members: { readonly line: number; readonly key: string }[] = [];
  for (let line = from; line < to; line = endOf(lines, line) + 1)
    members.push({ line, key: unquote(lines[line]?.key ?? '""') });
  return members.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ line }) => line);
}
