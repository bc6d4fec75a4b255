import { BASE64_SENTENCE, isBase64, tryDecode } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProblemError, invalid } from './problem.ts';

/** Maximum bytes of a call's body, without the body of a request that it sends or restores. */
export const API_BODY_LIMIT = 1024 * 1024;
/**
 * Maximum number of values in the JSON of a call, because parsing half a million of them stops the server for 0.2 s. A
 * restored request with the most headers has 40,000.
 */
const MAX_VALUES = 50_000;
const TOO_MANY_VALUES = 'Please send at most 50,000 values.';
/** Bytes per turn of the event loop. A multiple of 4, so that pieces of base64 join. */
const PIECE_BYTES = 256 * 1024;

/** The JSON of a call. */
interface ParsedBody {
  readonly value: unknown;
  /** The member `body` of JSON over `API_BODY_LIMIT`, as UTF-8. In `value` it is empty. */
  readonly longText: Buffer | undefined;
}

/**
 * Parses the JSON of a call. A body of 25 MiB stays bytes and is read in pieces, because `JSON.parse` would stop the
 * server for a second. Its memory is reused. @throws ProblemError BODY_TOO_LARGE, VALIDATION_FAILED, MALFORMED_JSON
 */
export async function parseBody(json: Buffer): Promise<ParsedBody> {
  const { begin, end } = await measure(json);
  if (json.length <= API_BODY_LIMIT) return { value: parse(json), longText: undefined };
  const placeholder = randomUUID();
  const value = parse(Buffer.concat([json.subarray(0, begin), Buffer.from(placeholder), json.subarray(end)]));
  // It can belong to another object, or be replaced by a second `body`.
  if (typeof value !== 'object' || value === null || !('body' in value) || value.body !== placeholder)
    throw new ProblemError('BODY_TOO_LARGE');
  return { value: { ...value, body: '' }, longText: await unescape(json.subarray(begin, end)) };
}

/** The bytes of a body in a call. `longText` replaces `text`, and its memory is reused. @throws ProblemError VALIDATION_FAILED */
export async function bytesOf(
  text: string,
  longText: Buffer | undefined,
  encoding: CapturedRequest['bodyEncoding'] = 'utf8',
): Promise<Buffer> {
  if (longText === undefined) return Buffer.from(text, encoding);
  return encoding === 'utf8' ? longText : decodeBase64(longText);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A comma, `[` and `{`. */
const BEFORE_VALUE: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b]);
/** What is before the first character of a member `body`, and its maximum length that is recognized. */
const BEFORE_BODY = /"body"\s*:\s*"$/;
const BEFORE_BODY_BYTES = 64;

/**
 * Where the longest text of a member `body` begins and ends. Rejects JSON that would take long to parse and to check:
 * many values, or many bytes besides that text. @throws ProblemError BODY_TOO_LARGE, VALIDATION_FAILED
 */
async function measure(json: Buffer): Promise<{ readonly begin: number; readonly end: number }> {
  let longest = { begin: 0, end: 0 };
  let begin = 0;
  let values = 0;
  let nextPause = PIECE_BYTES;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE && begin === 0) begin = at + 1;
    else if (byte === QUOTE) {
      if (at - begin > longest.end - longest.begin && isBodyAt(json, begin)) longest = { begin, end: at };
      begin = 0;
    } else if (begin === 0 && BEFORE_VALUE.has(byte)) values += 1;
    if (at < nextPause) continue;
    nextPause += PIECE_BYTES;
    await nextTurn();
  }
  if (json.length - (longest.end - longest.begin) > API_BODY_LIMIT) throw new ProblemError('BODY_TOO_LARGE');
  if (values > MAX_VALUES) throw invalid({ body: TOO_MANY_VALUES });
  return longest;
}

function isBodyAt(json: Buffer, begin: number): boolean {
  return BEFORE_BODY.test(json.toString('latin1', Math.max(0, begin - BEFORE_BODY_BYTES), begin));
}

/** A byte order mark is ignored (RFC 8259 8.1). A lenient decoder would make different passwords equal. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Within a text, it is a character. */
const utf8Piece = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parse(json: Buffer): unknown {
  return parseDecoded(() => utf8.decode(json));
}

/** @throws ProblemError MALFORMED_JSON, also if the text can't be decoded */
function parseDecoded(decode: () => string): unknown {
  const value: unknown = tryDecode(() => JSON.parse(decode()));
  if (value === undefined) throw new ProblemError('MALFORMED_JSON');
  return value;
}

/** Replaces the content of a JSON string by its text, which is never longer. */
async function unescape(content: Buffer): Promise<Buffer> {
  let length = 0;
  for (let at = 0; at < content.length;) {
    const end = pieceEnd(content, at);
    const piece = content.subarray(at, end);
    length += content.write(String(parseDecoded(() => `"${utf8Piece.decode(piece)}"`)), length);
    at = end;
    await nextTurn();
  }
  return content.subarray(0, length);
}

/** Two escapes that are one character. */
const SURROGATES = /^\\ud[89ab][\da-f]{2}\\ud[c-f]/i;
const ESCAPE_BYTES = '\\u0000'.length;
const LETTER_U = 0x75;

/** The end of a piece of a JSON string. It splits no escape and no character. */
function pieceEnd(content: Buffer, from: number): number {
  let last = from;
  let at = from;
  while (at < content.length && at - from < PIECE_BYTES) {
    last = at;
    if (content[at] !== BACKSLASH) at += 1;
    else at += content[at + 1] === LETTER_U ? ESCAPE_BYTES : 2;
  }
  if (SURROGATES.test(content.toString('latin1', last, last + 2 * ESCAPE_BYTES))) at += ESCAPE_BYTES;
  // Bytes that continue a character: 10xxxxxx. A valid one has at most three.
  for (let more = 0; more < 3 && ((content[at] ?? 0) & 0xc0) === 0x80; more += 1) at += 1;
  return Math.min(at, content.length);
}

/** Replaces base64 by its bytes. @throws ProblemError VALIDATION_FAILED */
async function decodeBase64(text: Buffer): Promise<Buffer> {
  let length = 0;
  for (let at = 0; at < text.length; at += PIECE_BYTES) {
    const piece = text.toString('latin1', at, at + PIECE_BYTES);
    const isLast = at + PIECE_BYTES >= text.length;
    if (!isBase64(piece) || (!isLast && piece.endsWith('='))) throw invalid({ body: BASE64_SENTENCE });
    length += text.write(piece, length, 'base64');
    await nextTurn();
  }
  return text.subarray(0, length);
}
