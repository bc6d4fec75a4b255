import { firstPosition } from './first-position.ts';

type TextLines = ReturnType<typeof textLines>;

/**
 * Splits a text into lines of at most `columns` characters, so that megabytes without a line break can be scrolled.
 * `starts` has their positions.
 */
export function textLines(text: string, columns: number) {
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

/** The line with the character at a position of the text. */
export function lineOfPosition({ count, starts }: TextLines, position: number): number {
  return Math.max(0, firstPosition(count, (line) => (starts[line] ?? 0) > position) - 1);
}

/** Bytes per line, in a wide and in a narrow view. */
export const HEX_WIDTH = 16;
export const HEX_WIDTH_NARROW = 8;

const GROUP = 8;

export const hexLineCount = (bytes: Uint8Array, width = HEX_WIDTH): number => Math.ceil(bytes.length / width);

/** One line of the hex view, counted from 0. */
export function hexLine(bytes: Uint8Array, line: number, width = HEX_WIDTH) {
  const start = line * width;
  const part = [...bytes.subarray(start, start + width)];
  const digits = part.map((byte) => byte.toString(16).padStart(2, '0'));
  const groups = [digits.slice(0, GROUP), digits.slice(GROUP)].filter((group) => group.length > 0);
  return {
    /** Position of the first byte, as eight hex digits. */
    offset: start.toString(16).padStart(8, '0'),
    /** The bytes, in groups of eight. */
    hex: groups.map((group) => group.join(' ')).join('  '),
    /** The printable characters; a dot for all others. */
    text: part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join(''),
  };
}

/** The whole hex view as text, for copying. */
export function hexDump(bytes: Uint8Array): string {
  const lines = Array.from({ length: hexLineCount(bytes) }, (_, line) => hexLine(bytes, line));
  return lines.map(({ offset, hex, text }) => `${offset}  ${hex.padEnd(HEX_WIDTH * 3)}  |${text}|`).join('\n');
}
