/** Positions where lines of at most `columns` characters start. Line breaks are LF, CRLF or CR. */
interface TextLines {
  readonly text: string;
  readonly count: number;
  readonly starts: Uint32Array;
}

/** Splits a text into lines of a fixed width, so that megabytes without a line break can be scrolled. */
export function textLines(text: string, columns: number): TextLines {
  let starts = new Uint32Array(Math.ceil(text.length / columns) + 64);
  let count = 0;
  const add = (start: number): void => {
    if (count === starts.length) {
      const more = new Uint32Array(starts.length * 2);
      more.set(starts);
      starts = more;
    }
    starts[count++] = start;
  };
  for (let start = 0; start <= text.length;) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    add(start);
    for (let at = start + columns; at < end; at += columns) add(at);
    start = feed < 0 ? text.length + 1 : feed + 1;
  }
  return { text, count, starts: starts.subarray(0, count) };
}

/** The text of a line, without its line break. */
export function textOfLine({ text, count, starts }: TextLines, line: number): string {
  const end = line + 1 < count ? starts[line + 1] : text.length;
  return text.slice(starts[line], end).replace(/\r?\n$/, '');
}

/** The line that contains a position. */
export function lineOfPosition({ count, starts }: TextLines, position: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
