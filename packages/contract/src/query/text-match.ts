import type { Pattern } from './query.ts';

const encoder = new TextEncoder();
/** Maximum arguments of one `String.fromCharCode` call, which takes them from the stack. */
const CHARACTERS_PER_CALL = 8192;

/** Converts only A to Z to lower case. Searches ignore the case of these letters. */
export function foldCase(text: string): string {
  // The built-in function is much faster and returns the same for ASCII.
  return isAscii(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[^\x00-\x7f]/.test(text);
}

/** Converts bytes to text with one character per byte, like the stored heads of requests. */
export function byteText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHARACTERS_PER_CALL)
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_PER_CALL));
  return text;
}

/** Text to find, in lower case: as characters, and as UTF-8 with one character per byte. */
export interface Needle {
  readonly text: string;
  readonly bytes: string;
}

/** The text to find, for any upper and lower case. */
export function needleOf(text: string): Needle {
  const folded = foldCase(text);
  return { text: folded, bytes: utf8Text(folded) };
}

/** Encodes a text as UTF-8 with one character per byte. */
export function utf8Text(text: string): string {
  return isAscii(text) ? text : byteText(encoder.encode(text));
}

/** True if lower-case text with one character per byte contains the needle, as Latin-1 or as UTF-8. */
export function wireContains(wire: string, { text, bytes }: Needle): boolean {
  return contains(wire, bytes) || (bytes !== text && contains(wire, text));
}

/** Engines search longer texts in quadratic time: 20 MB for 1,800 letters took 5 s. */
const MAX_BUILT_IN_SEARCH = 200;

/** `text.includes(needle)` in linear time. */
export function contains(text: string, needle: string): boolean {
  return indexIn(text, needle, 0) >= 0;
}

/** `text.indexOf(needle, from)` in linear time. */
function indexIn(text: string, needle: string, from: number): number {
  return needle.length <= MAX_BUILT_IN_SEARCH ? text.indexOf(needle, from) : indexOfLong(text, needle, from);
}

/** The algorithm of Knuth, Morris and Pratt. */
function indexOfLong(text: string, needle: string, from: number): number {
  const { length } = needle;
  // For each position: how much of the needle's beginning still matches after a mismatch there.
  const borders = new Int32Array(length + 1);
  borders[0] = -1;
  for (let at = 0, border = -1; at < length; borders[++at] = ++border)
    while (border >= 0 && needle.charCodeAt(border) !== needle.charCodeAt(at)) border = borders[border] ?? -1;
  let matched = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched >= 0 && needle.charCodeAt(matched) !== code) matched = borders[matched] ?? -1;
    matched += 1;
    if (matched === length) return at + 1 - length;
  }
  return -1;
}

/**
 * True if a lower-case text matches a lower-case pattern as a whole. Each part matches at its first position after the previous part, so
 * the time is linear.
 */
export function matchesPattern(text: string, pattern: Pattern): boolean {
  const first = pattern[0] ?? '';
  if (pattern.length === 1) return text === first;
  const last = pattern.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of pattern.slice(1, -1)) {
    const found = indexIn(text, part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Percent-decodes text with one character per byte. Invalid encodings stay unchanged. */
export function percentDecoded(wire: string): string {
  if (!wire.includes('%')) return wire;
  return wire.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
