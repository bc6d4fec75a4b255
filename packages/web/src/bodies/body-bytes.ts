import type { BodyEncoding } from '@creel/contract';

/** A body's bytes: of text its UTF-8, of base64 what it stands for. No body is no bytes. */
export function bodyBytes(body: string | null, encoding: BodyEncoding): Uint8Array<ArrayBuffer> {
  if (body === null) return new Uint8Array();
  if (encoding === 'utf8') return new TextEncoder().encode(body);
  const binary = atob(body);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** The text of bytes that are valid UTF-8, a byte order mark included; `undefined` of others. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Longest UTF-8 sequence, less one: so many bytes at the end may belong to a character that was cut. */
const CUT_AT_MOST = 3;

/** The text of bytes whose end may cut through a character. */
export function textOfBeginning(bytes: Uint8Array): string | undefined {
  for (let cut = 0; cut <= CUT_AT_MOST; cut++) {
    const text = textOf(bytes.subarray(0, bytes.length - cut));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The same in base64, in pieces that a function call can take. */
export function toBase64(bytes: Uint8Array): string {
  const piece = 0x8000;
  let binary = '';
  for (let at = 0; at < bytes.length; at += piece) binary += String.fromCharCode(...bytes.subarray(at, at + piece));
  return btoa(binary);
}
