import { bodyKind, textInCharset } from './body-kind.ts';
import { codingNamesOf, textOf, textOfBeginning } from '@creel/contract';
import { decodeBody } from './decode-body.ts';
import type { Decoded, LoadBrotli } from './decode-body.ts';
import { formatJson } from './format-json.ts';

/** Bytes that are loaded at once. The rest is loaded on request. */
export const BEGINNING_BYTES = 256 * 1024;

/** The bytes of a body, and what its headers say about them. */
export interface BodySource {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** False if `bytes` are only the first part of the received body. */
  readonly complete: boolean;
  readonly contentEncoding: string | undefined;
  readonly contentType: string | null;
  /** Maximum number of bytes after decoding. */
  readonly limit: number;
}

/** A parsed body, as the details show it. */
export type BodyView = ReturnType<typeof viewPlain>;

/** Parses a body without content coding, synchronously. For small bodies. */
export function viewPlain({ bytes, complete, contentType, limit }: BodySource, coding?: Coding) {
  const shown = bytes.subarray(0, limit);
  const whole = complete && shown.length === bytes.length;
  const utf8 = whole ? textOf(shown) : textOfBeginning(shown);
  const other = textInCharset(shown, contentType, { isUtf8: (utf8 ?? '') !== '', whole });
  const text = other?.text ?? utf8;
  const json =
    text === undefined ? undefined : formatJson(text, { partial: !whole, sequence: isJsonSequence(contentType) });
  const kind = bodyKind({ bytes: shown, text, isJson: json !== undefined, contentType });
  return {
    /** The decoded bytes, or the received ones if they can't be decoded; at most `limit`. */
    bytes: shown,
    text,
    /** The character set of the text, if it is not UTF-8. */
    charset: other?.charset,
    json,
    kind,
    coding,
    /** True if this is the whole body. */
    whole,
  };
}

/** Content types of JSON sequences. With any other type, a second value is an error. */
function isJsonSequence(contentType: string | null): boolean {
  return /ndjson|jsonl|json-?lines|json-seq|stream\+json/i.test(contentType ?? '');
}

/** True if the body has a content coding. */
export function isCoded(source: Pick<BodySource, 'bytes' | 'contentEncoding'>): boolean {
  return source.bytes.length > 0 && codingNamesOf(source.contentEncoding).length > 0;
}

/** Parses any body. The first part of an encoded body is decoded as far as possible. */
export async function viewBody(source: BodySource, loadBrotli: LoadBrotli): Promise<BodyView> {
  const decoded = await decodeBody(source.bytes, source.contentEncoding, loadBrotli, { beginning: !source.complete });
  if (decoded.outcome === 'none') return viewPlain(source);
  if (decoded.outcome === 'failed') return viewPlain(source, codingOf(decoded));
  const complete = source.complete && !decoded.cut;
  return viewPlain({ ...source, bytes: decoded.bytes, complete }, codingOf(decoded));
}

export type Coding = ReturnType<typeof codingOf>;

/** The result of decoding a content coding. */
function codingOf(decoded: Exclude<Decoded, { outcome: 'none' }>) {
  const isDecoded = decoded.outcome === 'decoded';
  return {
    name: decoded.coding,
    /** Number of decoded bytes; `undefined` if decoding failed. */
    decodedSize: isDecoded ? decoded.bytes.length : undefined,
    problem: isDecoded ? undefined : decoded.reason,
    /** True if decoding stopped at its limit. */
    cut: isDecoded && decoded.cut,
  };
}
