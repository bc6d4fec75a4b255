import { firstHeader, tryDecode } from '@creel/contract';
import { mediaType } from './body-kind.ts';
import { latin1Bytes, readable } from './encoding.ts';

/** Maximum number of parts that are listed. */
export const MAX_PARTS = 1000;

const CR = 13;
const LF = 10;
const DASH = 45;

/**
 * Splits a multipart body; `undefined` if it has no boundary or does not contain it. A truncated body returns the
 * parts up to its end.
 */
export function parseMultipart(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string | null,
): MultipartPart[] | undefined {
  const { type, parameters } = mediaType(contentType);
  const boundary = parameters.get('boundary');
  if (!type.startsWith('multipart/') || boundary === undefined || boundary === '') return undefined;
  const mark = latin1Bytes(`--${boundary}`);
  const parts: MultipartPart[] = [];
  let at = findMark(bytes, mark, 0);
  if (at < 0) return undefined;
  while (at >= 0 && parts.length < MAX_PARTS) {
    const start = at + mark.length;
    if (bytes[start] === DASH && bytes[start + 1] === DASH) break;
    const next = findMark(bytes, mark, start);
    parts.push(readPart(bytes.subarray(lineEnd(bytes, start), next < 0 ? bytes.length : trimLineEnd(bytes, next))));
    at = next;
  }
  return parts;
}

/** Position of the delimiter at the start of a line. */
function findMark(bytes: Uint8Array, mark: Uint8Array, from: number): number {
  const first = mark[0] ?? DASH;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    const atLineStart = at === 0 || bytes[at - 1] === LF;
    if (atLineStart && mark.every((byte, offset) => bytes[at + offset] === byte)) return at;
  }
  return -1;
}

function lineEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(LF, from);
  return end < 0 ? bytes.length : end + 1;
}

/** The line break before a delimiter belongs to the delimiter (RFC 2046, section 5.1.1). */
function trimLineEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at - 1] !== LF) return at;
  return bytes[at - 2] === CR ? at - 2 : at - 1;
}

export type MultipartPart = ReturnType<typeof readPart>;

/** One part of a multipart body (RFC 2046, section 5.1; RFC 7578). */
function readPart(part: Uint8Array<ArrayBuffer>) {
  const headers: [string, string][] = [];
  let at = 0;
  while (at < part.length) {
    const end = lineEnd(part, at);
    const line = String.fromCharCode(...part.subarray(at, Math.min(end, at + 8192))).replace(/\r?\n$/, '');
    at = end;
    if (line === '') break;
    const colon = line.indexOf(':');
    if (colon > 0) headers.push([line.slice(0, colon), readable(line.slice(colon + 1).trim())]);
  }
  const disposition = mediaType(firstHeader(headers, 'content-disposition')).parameters;
  return {
    /** Name of the form field; empty if the part has none. */
    name: disposition.get('name') ?? '',
    /** File name as sent; `undefined` for a field that is not a file. */
    filename: extendedName(disposition.get('filename*')) ?? disposition.get('filename'),
    contentType: firstHeader(headers, 'content-type'),
    headers,
    bytes: part.subarray(at),
  };
}

/** `filename*=UTF-8''na%C3%AFve.txt` (RFC 8187). */
function extendedName(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? '')?.[1];
  return encoded === undefined ? undefined : tryDecode(() => decodeURIComponent(encoded));
}

/** A safe file name for a download: no path and no characters that a file system rejects. */
export function safeFileName(name: string | undefined, fallback: string): string {
  const clean = (name ?? '')
    // oxlint-disable-next-line no-control-regex -- control characters are what must go
    .replaceAll(/[\x00-\x1f\x7f<>:"/\\|?*\u202a-\u202e\u2066-\u2069]+/g, '_')
    .replaceAll(/^[.\s]+|[.\s]+$/g, '');
  return clean === '' ? fallback : clean.slice(0, 120);
}
