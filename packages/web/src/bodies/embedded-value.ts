import { imageType } from './body-kind.ts';
import { textOf, tryDecode } from '@creel/contract';
import { latin1Bytes } from './encoding.ts';
import { CELL, cellOf, KIND, keyOf, valueToCopy } from './json-lines.ts';
import type { JsonLines } from './json-lines.ts';

/** What a JSON scalar contains besides its own characters. */
export type Embedded =
  | { readonly kind: 'json'; readonly text: string }
  /** The decoded header and payload of a JSON Web Token (RFC 7519). Its signature is not checked. */
  | { readonly kind: 'jwt'; readonly header: string; readonly payload: string }
  /** Decoded base64 or base64url (RFC 4648). `text` is set if the bytes are printable text. */
  | { readonly kind: 'base64'; readonly bytes: Uint8Array<ArrayBuffer>; readonly text: string | undefined }
  /** Seconds or milliseconds since 1970, as an ISO 8601 time. */
  | { readonly kind: 'time'; readonly iso: string };

/** Maximum number of characters of a string that is examined, because every visible value is, while the page is drawn. */
const MAX_EXAMINED = 256 * 1024;

/** The content of the scalar in a line; `undefined` for other lines and for plain values. */
export function embeddedAt(json: JsonLines, line: number): Embedded | undefined {
  const kind = cellOf(json, line, CELL.kind);
  const isNumber = kind === KIND.number;
  if (!isNumber && kind !== KIND.string) return undefined;
  const length = cellOf(json, line, CELL.end) - cellOf(json, line, CELL.start);
  if (length > MAX_EXAMINED) return undefined;
  return embeddedIn(valueToCopy(json, line), isNumber, keyOf(json, line));
}

/** The content of a string or a number. The key distinguishes times from other numbers. */
export function embeddedIn(value: string, isNumber: boolean, key: string | undefined): Embedded | undefined {
  const iso = epochTime(value, key);
  if (iso !== undefined) return { kind: 'time', iso };
  if (isNumber) return undefined;
  if (isJsonStructure(value)) return { kind: 'json', text: value };
  return tokenIn(value) ?? base64In(value);
}

/** True for an object or an array that is not too long. Any other JSON value is readable as it is. */
export function isJsonStructure(text: string): boolean {
  if (text.length > MAX_EXAMINED) return false;
  return /^\s*[{[][^]*[}\]]\s*$/.test(text) && tryDecode(() => JSON.parse(text)) !== undefined;
}

/** Seconds (with a fraction, as Slack sends them) or milliseconds, from 2001 to 2096. */
const EPOCH = /^(?:[1-3]\d{9}(?:\.\d{1,6})?|[1-3]\d{12})$/;

/** Keys of numbers that are no times: identifiers, amounts, counts, phone numbers. */
const NOT_A_TIME = /(?:^|_|[a-z](?=[A-Z]))(?:ids?|number|phone|amount|total|price|count|size|bytes|version)$/i;

function epochTime(value: string, key: string | undefined): string | undefined {
  if (!EPOCH.test(value) || NOT_A_TIME.test(key ?? '')) return undefined;
  const number = Number(value);
  return new Date(value.split('.')[0]?.length === 13 ? number : number * 1000).toISOString();
}

function tokenIn(value: string): Embedded | undefined {
  const token = value.replace(/^Bearer /i, '');
  const parts = token.split('.');
  if (parts.length !== 3 || !token.startsWith('eyJ')) return undefined;
  const [header, payload] = parts.slice(0, 2).map((part) => textOf(decoded(part) ?? new Uint8Array([0xff])));
  if (header === undefined || payload === undefined) return undefined;
  return isJsonStructure(header) && isJsonStructure(payload) ? { kind: 'jwt', header, payload } : undefined;
}

/** Shorter strings are too likely to be words that happen to decode. */
const MIN_BASE64 = 16;

/** First bytes of compressed data and documents that senders embed: gzip, ZIP, PDF. */
const MAGIC = [
  [0x1f, 0x8b, 0x08],
  [0x50, 0x4b, 0x03, 0x04],
  [0x25, 0x50, 0x44, 0x46],
] as const;

function base64In(value: string): Embedded | undefined {
  if (value.length < MIN_BASE64) return undefined;
  const bytes = decoded(value.replace(/^data:[\w/+.-]+;base64,/, ''));
  if (bytes === undefined) return undefined;
  const text = textOf(bytes);
  if (text !== undefined && !/[^\P{C}\t\r\n]/u.test(text)) return { kind: 'base64', bytes, text };
  const isKnown =
    imageType(bytes) !== undefined || MAGIC.some((magic) => magic.every((byte, at) => bytes[at] === byte));
  return isKnown ? { kind: 'base64', bytes, text: undefined } : undefined;
}

/** The bytes of base64 or base64url, with or without padding; `undefined` for other text. */
function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  const [, digits = ''] = /^([\w+/-]+)={0,2}$/.exec(text) ?? [];
  if (digits === '' || digits.length % 4 === 1) return undefined;
  return tryDecode(() => latin1Bytes(atob(digits.replaceAll('-', '+').replaceAll('_', '/'))));
}
