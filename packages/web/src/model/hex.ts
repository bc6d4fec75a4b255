/** Bytes on a line of the hex view. */
export const HEX_WIDTH = 16;

export interface HexLine {
  /** Position of the first byte, as eight hex digits. */
  readonly offset: string;
  /** The bytes, in two groups of eight. */
  readonly hex: string;
  /** What of them can be printed; a dot for the rest. */
  readonly text: string;
}

export const hexLineCount = (bytes: Uint8Array): number => Math.ceil(bytes.length / HEX_WIDTH);

/** One line of the hex view, from 0. */
export function hexLine(bytes: Uint8Array, line: number): HexLine {
  const start = line * HEX_WIDTH;
  const part = [...bytes.subarray(start, start + HEX_WIDTH)];
  const digits = part.map((byte) => byte.toString(16).padStart(2, '0'));
  const groups = [digits.slice(0, HEX_WIDTH / 2), digits.slice(HEX_WIDTH / 2)].filter((group) => group.length > 0);
  return {
    offset: start.toString(16).padStart(8, '0'),
    hex: groups.map((group) => group.join(' ')).join('  '),
    text: part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join(''),
  };
}

/** The whole view as text, to be copied. */
export function hexDump(bytes: Uint8Array): string {
  const lines = Array.from({ length: hexLineCount(bytes) }, (_, line) => hexLine(bytes, line));
  return lines.map(({ offset, hex, text }) => `${offset}  ${hex.padEnd(HEX_WIDTH * 3)}  |${text}|`).join('\n');
}
