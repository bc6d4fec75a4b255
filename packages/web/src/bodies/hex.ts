/** Bytes per line, in a wide and in a narrow view. */
export const HEX_WIDTH = 16;
export const HEX_WIDTH_NARROW = 8;

const GROUP = 8;

interface HexLine {
  /** Position of the first byte, as eight hex digits. */
  readonly offset: string;
  /** The bytes, in groups of eight. */
  readonly hex: string;
  /** The printable characters; a dot for all others. */
  readonly text: string;
}

export const hexLineCount = (bytes: Uint8Array, width = HEX_WIDTH): number => Math.ceil(bytes.length / width);

/** One line of the hex view, counted from 0. */
export function hexLine(bytes: Uint8Array, line: number, width = HEX_WIDTH): HexLine {
  const start = line * width;
  const part = [...bytes.subarray(start, start + width)];
  const digits = part.map((byte) => byte.toString(16).padStart(2, '0'));
  const groups = [digits.slice(0, GROUP), digits.slice(GROUP)].filter((group) => group.length > 0);
  return {
    offset: start.toString(16).padStart(8, '0'),
    hex: groups.map((group) => group.join(' ')).join('  '),
    text: part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join(''),
  };
}

/** The whole hex view as text, for copying. */
export function hexDump(bytes: Uint8Array): string {
  const lines = Array.from({ length: hexLineCount(bytes) }, (_, line) => hexLine(bytes, line));
  return lines.map(({ offset, hex, text }) => `${offset}  ${hex.padEnd(HEX_WIDTH * 3)}  |${text}|`).join('\n');
}
