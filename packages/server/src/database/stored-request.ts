import {
  LABEL_BODY_BYTES,
  MAX_DECODED_BODY_BYTES,
  actualCoding,
  contentCodingsOf,
  decodedBody as decodedInPieces,
  eventType,
  firstHeader,
  rawHeadersOf,
  sourceLabel,
} from '@creel/contract';
import type { ContentCoding, LastDelivery, RawHeaders, SearchableRequest } from '@creel/contract';
import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import { Readable } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';
import { codeOf } from '../error-code.ts';
import type { DatabaseTransaction } from './schema.ts';

/** A captured request as queries return it. */
export interface RequestRecord {
  readonly endpointId: number;
  readonly index: number;
  /** Null while unsaved. */
  readonly savedId: number | null;
  readonly method: string;
  readonly receivedAt: number;
  /** See `encodeHead`. */
  readonly head: Uint8Array;
  /** The whole body, or its beginning if the call limits it; null when there was none. */
  readonly body: Uint8Array | null;
  /** Size of the whole body in bytes. */
  readonly size: number;
  /** Absent if it was never sent anywhere. `last` is null before the first attempt. */
  readonly delivery?: { readonly last: LastDelivery | null; readonly isPending: boolean } | undefined;
}

/** What storage assigned to a capture. The time is the received one, or a later one of its endpoint. */
export type StoredAs = Pick<RequestRecord, 'index' | 'savedId' | 'receivedAt'>;

/** What a path names: a saved request by its id, an unsaved one by its index. */
export type RequestRef = { readonly savedId: number } | { readonly index: number };

/** The index takes the low bits of a request's key: 4,294,967,296 captures per endpoint. */
export const INDEX_SPAN = 4_294_967_296;

/** The key of a request. It needs 64 bits, and JavaScript's numbers are exact up to 53. */
export function requestKeyValue(endpointId: number, index: number): bigint {
  return BigInt(endpointId) * BigInt(INDEX_SPAN) + BigInt(index);
}

/** The key in a query. Its column has the type `number`, because queries read only the parts of a key. */
export function requestKey(endpointId: number, index: number): RawBuilder<number> {
  return sql<number>`cast(${requestKeyValue(endpointId, index)} as bigint)`;
}

/** The index within a `key` column. */
export const indexOfKey = sql<number>`(key & ${sql.lit(INDEX_SPAN - 1)})`;
/** The index within a `request_key` column, which refers to a request. */
export const indexOfRequestKey = sql<number>`(request_key & ${sql.lit(INDEX_SPAN - 1)})`;

/** The requests of an endpoint with indexes from `from` up to `below`; without `below`, all from there on. */
export function keyRange(
  column: 'key' | 'request_key',
  endpointId: number,
  from: number,
  below?: number,
): RawBuilder<SqlBool> {
  const end = below === undefined ? requestKey(endpointId + 1, 0) : requestKey(endpointId, below);
  return sql<SqlBool>`(${sql.ref(column)} >= ${requestKey(endpointId, from)} and ${sql.ref(column)} < ${end})`;
}

/** Deletes the deliveries of the requests whose `request_key` matches: pending ones and the history. */
export async function removeDeliveries(transaction: DatabaseTransaction, matches: RawBuilder<SqlBool>): Promise<void> {
  for (const table of ['deliveries', 'delivery_attempts', 'latest_deliveries'] as const)
    await transaction.deleteFrom(table).where(matches).execute();
}

/** Everything of a captured request except method and body, as it was on the wire. */
export interface RequestHead {
  /** The part of the request target after `/h/{uid}`, with the query, exactly as sent; may be empty. */
  readonly target: string;
  readonly sourceIp: string;
  /** Whether the body is valid UTF-8. Decided once over the whole body, so that a preview never disagrees. */
  readonly bodyIsText: boolean;
  readonly rawHeaders: RawHeaders;
}

/**
 * Encodes a head as lines of Latin-1 text: `text` or `bytes` with the client address, the target, then names and values
 * in turn. These are the bytes of the wire, which have no line feed, so nothing is escaped. Searches start after the
 * first line, which is the server's own.
 */
export function encodeHead(
  target: string,
  sourceIp: string,
  bodyIsText: boolean,
  flatHeaders: readonly string[],
): string {
  return (bodyIsText ? 'text ' : 'bytes ') + sourceIp + '\n' + target + '\n' + flatHeaders.join('\n');
}

/** Reverses `encodeHead`. Headers come as pairs. */
export function decodeHead(bytes: Uint8Array): RequestHead {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\n');
  const [first = '', target = ''] = lines;
  const [kind, sourceIp = ''] = first.split(' ');
  return { target, sourceIp, bodyIsText: kind === 'text', rawHeaders: rawHeadersOf(lines.slice(2)) };
}

/**
 * The part of a body that decides the sender and the event type: the first 16 KiB of a text. With one function for it,
 * lists and searches agree. `body` may be truncated to any length from `LABEL_BODY_BYTES` on.
 */
export function labelText(bodyIsText: boolean, body: Uint8Array | null): string {
  if (body === null || !bodyIsText) return '';
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, LABEL_BODY_BYTES)).toString('utf8');
}

/** A request with at most `maxBytes` of its body, as a copy, so that the whole body can be freed. */
export function withShortBody(record: RequestRecord, maxBytes: number): RequestRecord {
  const { body } = record;
  if (body === null || body.length <= maxBytes) return record;
  return { ...record, body: Buffer.from(body.subarray(0, maxBytes)) };
}

interface Stored {
  /** The encoded text, one byte per character, or its bytes. */
  readonly head: { readonly length: number };
  readonly body: { readonly length: number } | null;
}

/** Bytes of a stored request: its head and the loaded part of its body. */
export function storedBytes({ head, body }: Stored): number {
  return head.length + (body?.length ?? 0);
}

/** A record for the query language. Without `withBody`, it may have only the beginning of the body. */
export async function searchableRecord(record: RequestRecord, withBody: boolean): Promise<SearchableRequest> {
  const { target, sourceIp, bodyIsText, rawHeaders } = decodeHead(record.head);
  const codings = withBody ? contentCodingsOf(firstHeader(rawHeaders, 'content-encoding')) : [];
  const body = codings.length === 0 || record.body === null ? record.body : await decodedBody(record.body, codings);
  const text = (): string => labelText(bodyIsText, record.body);
  return {
    method: record.method,
    target,
    rawHeaders,
    body: () => body,
    size: record.size,
    source: () => sourceLabel(rawHeaders, text()),
    eventType: () => eventType(rawHeaders, text()),
    sourceIp,
    receivedAt: record.receivedAt,
    saved: record.savedId !== null,
    delivery: record.delivery && { status: record.delivery.last?.status, pending: record.delivery.isPending },
  };
}

const LIMIT = { maxOutputLength: MAX_DECODED_BODY_BYTES };
const DECODE = { gzip: gunzipSync, deflate: inflateSync, 'deflate-raw': inflateRawSync, br: brotliDecompressSync };
const CREATE_DECODER = {
  gzip: createGunzip,
  deflate: createInflate,
  'deflate-raw': createInflateRaw,
  br: createBrotliDecompress,
};

/** The contract's `decodedBody`, and faster for the bodies that are never longer than the maximum. */
async function decodedBody(body: Uint8Array, declared: readonly ContentCoding[]): Promise<Uint8Array> {
  try {
    return declared.reduceRight((bytes, coding) => DECODE[actualCoding(coding, bytes)](bytes, LIMIT), body);
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return body;
    return decodedInPieces(body, declared, (coding, bytes) =>
      Readable.from(copiedPieces(bytes)).pipe(CREATE_DECODER[coding]()),
    );
  }
}

/** Bytes that a decoder gets at once. */
const PIECE_BYTES = 64 * 1024;

/**
 * A decoder reads its input in another thread, for a moment also after it is destroyed. The memory of a body may be free
 * by then, and reading it ends the process.
 */
function* copiedPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield Buffer.copyBytesFrom(bytes, at, PIECE_BYTES);
}
