import { textOf } from './body-bytes.ts';

/**
 * Paths and header values are Latin-1 strings, one character per byte. Many senders put UTF-8 there, so for display it
 * is decoded as UTF-8 if it is valid. Do not use the result for sending or for copying exact bytes.
 */
export function readable(latin1: string): string {
  // oxlint-disable-next-line no-control-regex -- all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(latin1) || /[^\x00-\xff]/.test(latin1)) return latin1;
  return textOf(latin1Bytes(latin1)) ?? latin1;
}

/** The bytes of a Latin-1 string. A character beyond Latin-1 becomes its UTF-8. */
export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  // oxlint-disable-next-line no-control-regex -- all of Latin-1 is meant
  if (!/^[\x00-\xff]*$/.test(text)) return new TextEncoder().encode(text);
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Encodes a text that the user typed as a Latin-1 string of its UTF-8 bytes. */
export function wireText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
