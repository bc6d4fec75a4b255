import type { BodyEncoding } from '@creel/contract';

/** The bytes of a body: UTF-8 of text, decoded base64, or none. */
export function bodyBytes(body: string | null, encoding: BodyEncoding): Uint8Array<ArrayBuffer> {
  if (body === null) return new Uint8Array();
  if (encoding === 'utf8') return new TextEncoder().encode(body);
  const binary = atob(body);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Decodes valid UTF-8, including a byte order mark; `undefined` for other bytes. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Length of the longest UTF-8 sequence minus one: the last bytes of a truncated text may belong to an incomplete
 * character.
 */
const CUT_AT_MOST = 3;

/** Decodes UTF-8 bytes that may end within a character. */
export function textOfBeginning(bytes: Uint8Array): string | undefined {
  for (let cut = 0; cut <= CUT_AT_MOST; cut++) {
    const text = textOf(bytes.subarray(0, bytes.length - cut));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Encodes bytes as base64, in chunks because the number of arguments of a call is limited. */
export function toBase64(bytes: Uint8Array): string {
  const piece = 0x8000;
  let binary = '';
  for (let at = 0; at < bytes.length; at += piece) binary += String.fromCharCode(...bytes.subarray(at, at + piece));
  return btoa(binary);
}
