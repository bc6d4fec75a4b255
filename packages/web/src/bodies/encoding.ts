import { byteText, textOf, tryDecode } from '@creel/contract';
import { firstPosition } from './first-position.ts';

/** Position of the first character that is not valid UTF-8, or whose end is missing; `undefined` if all are valid. */
export function invalidUtf8At(bytes: Uint8Array): number | undefined {
  const decodeTo = (position: number): string =>
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, position + 1), { stream: true });
  let start = firstPosition(bytes.length, (position) => tryDecode(() => decodeTo(position)) === undefined);
  // The bytes before it may begin the character.
  while (textOf(bytes.subarray(0, start)) === undefined) start--;
  return start === bytes.length ? undefined : start;
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(byteText(bytes));
}

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

/** Invisible characters that change the direction of the text after them (UAX #9, section 2). */
const CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** Replaces direction controls by their escapes in JSON, so that they are visible and have no effect. For display. */
export function escapeBidiControls(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
