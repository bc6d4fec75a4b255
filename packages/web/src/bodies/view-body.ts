import { textOf, textOfBeginning } from './body-bytes.ts';
import { bodyKind } from './body-kind.ts';
import type { BodyKind } from './body-kind.ts';
import { textInCharset } from './charset.ts';
import { codingsOf, decodeBody } from './decode-body.ts';
import type { Decoded, Unbrotli } from './decode-body.ts';
import { formatJson } from './format-json.ts';
import type { JsonLines } from './json-lines.ts';

/** Bytes that are shown at once; the rest on request (design 7). */
export const BEGINNING_BYTES = 256 * 1024;

export interface BodySource {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** False when `bytes` are only the beginning of what was received. */
  readonly complete: boolean;
  readonly contentEncoding: string | undefined;
  readonly contentType: string | null;
  /** Shown bytes at most, after decoding. */
  readonly limit: number;
}

/** A body as the details show it. */
export interface BodyView {
  /** Decoded where it was coded and could be; at most the limit. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string | undefined;
  /** What the text was decoded from, where that is not UTF-8. */
  readonly charset: string | undefined;
  readonly json: JsonLines | undefined;
  readonly kind: BodyKind;
  readonly coding: Coding | undefined;
  /** True when this is all of it. */
  readonly whole: boolean;
}

/** What became of a content coding. */
export interface Coding {
  readonly name: string;
  /** Bytes after decoding as far as it went; `undefined` when it could not be done. */
  readonly decodedSize: number | undefined;
  readonly problem: string | undefined;
  /** True when decoding stopped at its limit. */
  readonly cut: boolean;
}

/** The view of a body that is not coded, at once: for what is small enough not to be noticed. */
export function viewPlain({ bytes, complete, contentType, limit }: BodySource, coding?: Coding): BodyView {
  const shown = bytes.subarray(0, limit);
  const whole = complete && shown.length === bytes.length;
  const utf8 = whole ? textOf(shown) : textOfBeginning(shown);
  const other = textInCharset(shown, contentType, (utf8 ?? '') !== '', whole);
  const text = other?.text ?? utf8;
  const json =
    text === undefined ? undefined : formatJson(text, { partial: !whole, sequence: isJsonSequence(contentType) });
  const kind = bodyKind({ bytes: shown, text, isJson: json !== undefined, contentType });
  return { bytes: shown, text, charset: other?.charset, json, kind, coding, whole };
}

/** Types of JSON values one after the other; under every other type a second value is a mistake of the sender. */
function isJsonSequence(contentType: string | null): boolean {
  return /ndjson|jsonl|json-?lines|json-seq|stream\+json/i.test(contentType ?? '');
}

/** True where bytes have to be decoded before they can be looked at. */
export function isCoded(source: Pick<BodySource, 'bytes' | 'contentEncoding'>): boolean {
  return source.bytes.length > 0 && codingsOf(source.contentEncoding).length > 0;
}

/** The view of any body. Of a coded one the beginning alone can be decoded only as far as it goes. */
export async function viewBody(source: BodySource, unbrotli: Unbrotli): Promise<BodyView> {
  const decoded = await decodeBody(source.bytes, source.contentEncoding, unbrotli, { beginning: !source.complete });
  if (decoded.outcome === 'none') return viewPlain(source);
  if (decoded.outcome === 'failed') return viewPlain(source, codingOf(decoded));
  const complete = source.complete && !decoded.cut;
  return viewPlain({ ...source, bytes: decoded.bytes, complete }, codingOf(decoded));
}

function codingOf(decoded: Exclude<Decoded, { outcome: 'none' }>): Coding {
  if (decoded.outcome === 'failed')
    return { name: decoded.coding, decodedSize: undefined, problem: decoded.reason, cut: false };
  return { name: decoded.coding, decodedSize: decoded.bytes.length, problem: undefined, cut: decoded.cut };
}
