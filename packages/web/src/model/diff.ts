import type { RawHeaders } from '@creel/contract';
import { diffArrays } from 'diff';

/** A line of a comparison: in both, only on the left, or only on the right. */
export interface DiffLine {
  readonly mark: 'same' | 'left' | 'right';
  readonly text: string;
  /** Line numbers from 1 on the side or sides where the line stands. */
  readonly left: number | undefined;
  readonly right: number | undefined;
}

/** Milliseconds that a comparison may take; two long texts without likeness would take minutes. */
const TIME_MS = 1500;

/** Compares two texts line by line; `undefined` when they are too long and too different. */
export function diffLines(left: readonly string[], right: readonly string[]): DiffLine[] | undefined {
  const changes = diffArrays([...left], [...right], { timeout: TIME_MS });
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

/** One header name on both sides, with its values in their order. */
export interface HeaderDiff {
  readonly name: string;
  readonly left: readonly string[];
  readonly right: readonly string[];
  readonly same: boolean;
}

/** Compares headers by name without regard to case; names in the order of the left side, then those that only the right has. */
export function diffHeaders(left: RawHeaders, right: RawHeaders): HeaderDiff[] {
  const names = new Map([...left, ...right].toReversed().map(([name]) => [name.toLowerCase(), name]));
  const order = [...new Set([...left, ...right].map(([name]) => name.toLowerCase()))];
  return order.map((key) => {
    const values = (headers: RawHeaders): string[] =>
      headers.filter(([name]) => name.toLowerCase() === key).map(([, value]) => value);
    const [ours, theirs] = [values(left), values(right)];
    return { name: names.get(key) ?? key, left: ours, right: theirs, same: ours.join('\n') === theirs.join('\n') };
  });
}

/** Pairs what was taken out with what was put in, so that both sides stand beside each other. */
export interface DiffRow {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

export function sideBySide(lines: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = [];
  let out: DiffLine[] = [];
  let put: DiffLine[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(out.length, put.length); at++) rows.push({ left: out[at], right: put[at] });
    out = [];
    put = [];
  };
  for (const line of lines) {
    if (line.mark === 'left') out.push(line);
    else if (line.mark === 'right') put.push(line);
    else {
      flush();
      rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}
