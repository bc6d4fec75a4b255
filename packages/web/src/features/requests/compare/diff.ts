import { diffArrays } from 'diff';

/** A line of a diff: in both texts, only in the left, or only in the right. */
export interface DiffLine {
  readonly mark: 'same' | 'left' | 'right';
  readonly text: string;
  /** Line numbers from 1, on the sides that contain the line. */
  readonly left: number | undefined;
  readonly right: number | undefined;
}

/** Milliseconds after which a diff is aborted. Two long and different texts would take minutes. */
const TIME_MS = 1500;

/** Diffs two texts by line; `undefined` if they are too long and too different. */
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

/** A name and its values on both sides, in order. */
export interface FieldDiff {
  readonly name: string;
  readonly left: readonly string[];
  readonly right: readonly string[];
  readonly same: boolean;
}

type Fields = readonly (readonly [string, string])[];

/**
 * Compares fields by name, in the order of the left side, then those that only the right side has. `keyOf` decides
 * which names are equal.
 */
export function diffFields(left: Fields, right: Fields, keyOf = (name: string): string => name): FieldDiff[] {
  const names = new Map([...left, ...right].toReversed().map(([name]) => [keyOf(name), name]));
  const order = [...new Set([...left, ...right].map(([name]) => keyOf(name)))];
  return order.map((key) => {
    const values = (fields: Fields): string[] =>
      fields.filter(([name]) => keyOf(name) === key).map(([, value]) => value);
    const [ours, theirs] = [values(left), values(right)];
    return { name: names.get(key) ?? key, left: ours, right: theirs, same: ours.join('\n') === theirs.join('\n') };
  });
}

/** Compares headers. Names are case-insensitive (RFC 9110, section 5.1). */
export function diffHeaders(left: Fields, right: Fields): FieldDiff[] {
  return diffFields(left, right, (name) => name.toLowerCase());
}

/** Pairs removed lines with added ones, so that they are side by side. */
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
