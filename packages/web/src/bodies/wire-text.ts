import { textOf } from './body-bytes.ts';

/**
 * Paths and header values reach us as Latin-1, one character per byte of the wire. Many senders put UTF-8 there: for reading, it is
 * shown as that where it is valid. Never for sending or copying exact bytes.
 */
export function readable(latin1: string): string {
  // oxlint-disable-next-line no-control-regex -- all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(latin1) || /[^\x00-\xff]/.test(latin1)) return latin1;
  return textOf(latin1Bytes(latin1)) ?? latin1;
}

/** The bytes behind Latin-1 text. A character beyond it, which no wire has, becomes its UTF-8. */
export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  // oxlint-disable-next-line no-control-regex -- all of Latin-1 is meant
  if (!/^[\x00-\xff]*$/.test(text)) return new TextEncoder().encode(text);
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Text that a person wrote in the form of the wire, one character per byte: its UTF-8. */
export function wireText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
