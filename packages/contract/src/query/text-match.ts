import type { Pattern } from './query.ts';

const encoder = new TextEncoder();
/** Characters that become one string at a time: `String.fromCharCode` takes its arguments from the stack. */
const CHARACTERS_PER_CALL = 8192;

/** Lowers the 26 ASCII letters and nothing else: the case that plays no role in a search. */
export function foldCase(text: string): string {
  // The engine's own function is much faster, and does the same where all is ASCII.
  return isAscii(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[^\x00-\x7f]/.test(text);
}

/** Bytes as text with one character per byte, which is how heads of requests are kept. */
export function byteText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHARACTERS_PER_CALL)
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_PER_CALL));
  return text;
}

/** Text to look for, folded: as characters, and as one character per byte of its UTF-8. */
export interface Needle {
  readonly text: string;
  readonly bytes: string;
}

export function needleOf(text: string): Needle {
  const folded = foldCase(text);
  return { text: folded, bytes: utf8Text(folded) };
}

/** The UTF-8 of a text, with one character per byte. */
export function utf8Text(text: string): string {
  return isAscii(text) ? text : byteText(encoder.encode(text));
}

/** True where folded wire text, which is one character per byte, contains the needle: read as Latin-1 or as UTF-8. */
export function wireContains(wire: string, { text, bytes }: Needle): boolean {
  return wire.includes(bytes) || (bytes !== text && wire.includes(text));
}

/**
 * True where folded text as a whole has the form of a folded pattern. Each part takes its first place after the one before it, so that
 * the time is linear whatever the pattern is.
 */
export function matchesPattern(text: string, pattern: Pattern): boolean {
  const first = pattern[0] ?? '';
  if (pattern.length === 1) return text === first;
  const last = pattern.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of pattern.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Wire text with its percent-encoding removed; what is not valid encoding stays as it is. */
export function percentDecoded(wire: string): string {
  if (!wire.includes('%')) return wire;
  return wire.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
