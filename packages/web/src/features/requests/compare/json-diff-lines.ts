import { KIND, lineOf } from '../../../bodies/json-lines.ts';
import type { JsonLine, JsonLines } from '../../../bodies/json-lines.ts';

/** Deeper objects keep their key order. */
const MAX_SORTED_DEPTH = 200;

/** Maximum of levels by which lines are indented. */
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
    members.push({ line, key: decodedKey(lines[line]?.key ?? '""') });
  return members.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ line }) => line);
}

function decodedKey(source: string): string {
  try {
    return String(JSON.parse(source));
  } catch {
    return source;
  }
}
