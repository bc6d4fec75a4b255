import { BodyBuffer, copyBody } from './body-buffer.ts';
import type { Reservation } from '../limits/memory-budget.ts';
import { rawCaptured, rawRefusal } from './raw-response.ts';
import type { Refusal } from './problem.ts';

/** The head of a request that is simple enough to be read without Node's parser. */
export interface PlainHead {
  readonly method: string;
  /** As sent; starts with `/h/`. */
  readonly target: string;
  /** Alternating names and values, as sent. */
  readonly flatHeaders: string[];
  /** Bytes of the head, including the empty line. */
  readonly headLength: number;
  /** Bytes of the body that follows. */
  readonly bodyLength: number;
  /** False when the sender ends the connection with this request (RFC 9112 9.6). */
  readonly keepsAlive: boolean;
}

/**
 * A strict subset of RFC 9112 without ambiguity: origin form, HTTP/1.1, CRLF line ends, tokens as names, visible
 * characters in values. It must be stricter than Node's parser everywhere; plain-request.test.ts compares the two. No
 * name or value can contain the start of another part, so matching takes linear time.
 */
const HEAD =
  /^(?:GET|POST|PUT|PATCH|DELETE) (\/h\/[!"$-~]*) HTTP\/1\.1(?:\r\n[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*)+$/;
/** The methods in it. A constant is found in a map faster than a part of the head. */
const PLAIN_METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const;
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = '\r\n';
/** Larger heads go to the parser, which has its own limit. */
const MAX_PLAIN_HEAD_BYTES = 16 * 1024;
const CLOSE = 'close';
const KEPT_OR_NOT = /^(?:keep-alive|close)$/i;
/** Fields that change how the message is exchanged, beside Connection. */
const NOT_PLAIN = new Set(['expect', 'upgrade', 'proxy-connection', 'transfer-encoding']);

/** Reads the head that starts at `from`. `undefined` if it is not a plain request; then Node's parser decides. */
export function readPlainHead(bytes: Buffer, from = 0): PlainHead | undefined {
  const headEnd = bytes.indexOf(HEAD_END, from);
  if (headEnd < 0 || headEnd - from > MAX_PLAIN_HEAD_BYTES) return undefined;
  const head = bytes.toString('latin1', from, headEnd);
  const requestLine = HEAD.exec(head);
  if (requestLine === null) return undefined;
  const fields = readFields(head, head.indexOf(LINE_END) + LINE_END.length);
  if (fields === undefined) return undefined;
  const [, target = ''] = requestLine;
  const method = PLAIN_METHODS.find((name) => head.startsWith(name)) ?? '';
  const { flatHeaders, bodyLength, keepsAlive } = fields;
  // A spread takes as long as reading three header fields.
  return { method, target, headLength: headEnd + HEAD_END.length - from, flatHeaders, bodyLength, keepsAlive };
}

type Fields = Pick<PlainHead, 'flatHeaders' | 'bodyLength' | 'keepsAlive'>;

/** Parses the header fields; `undefined` when one of them is not plain. */
function readFields(head: string, from: number): Fields | undefined {
  const flatHeaders: string[] = [];
  let hosts = 0;
  let declared = -1;
  let keepsAlive = true;
  for (let at = from; at < head.length;) {
    const colon = head.indexOf(':', at);
    const end = head.indexOf(LINE_END, colon);
    const lineEnd = end < 0 ? head.length : end;
    const name = head.slice(at, colon);
    const value = withoutSpace(head, colon + 1, lineEnd);
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') hosts += 1;
        break;
      case 14:
        if (name.toLowerCase() !== 'content-length') break;
        if (declared >= 0) return undefined;
        declared = lengthOf(value);
        if (declared < 0) return undefined;
        break;
      case 10:
        if (name.toLowerCase() !== 'connection') break;
        if (!KEPT_OR_NOT.test(value)) return undefined;
        if (value.length === CLOSE.length) keepsAlive = false;
        break;
      case 6:
      case 7:
      case 16:
      case 17:
        if (NOT_PLAIN.has(name.toLowerCase())) return undefined;
    }
    flatHeaders.push(name, value);
    at = lineEnd + LINE_END.length;
  }
  // RFC 9112 3.2: exactly one Host.
  return hosts === 1 ? { flatHeaders, bodyLength: Math.max(0, declared), keepsAlive } : undefined;
}

const MAX_DIGITS = 9;
const ZERO = 48;

/** A length of one to nine digits; -1 for anything else. A regular expression and `Number` take four times as long. */
function lengthOf(value: string): number {
  if (value.length === 0 || value.length > MAX_DIGITS) return -1;
  let length = 0;
  for (let at = 0; at < value.length; at += 1) {
    const digit = value.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}

const TAB = 9;
const SPACE = 32;

/** Removes the white space around a value (RFC 9110 5.5). `trim` would remove more than spaces and tabs. */
function withoutSpace(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  for (
    let code = text.charCodeAt(start);
    start < end && (code === SPACE || code === TAB);
    code = text.charCodeAt(start)
  )
    start += 1;
  for (
    let code = text.charCodeAt(end - 1);
    end > start && (code === SPACE || code === TAB);
    code = text.charCodeAt(end - 1)
  )
    end -= 1;
  return text.slice(start, end);
}

/** From this size on, the end of a body takes 0.1 ms of work or more, which waits for the connection's turn. */
const DEFERRED_BODY_BYTES = 64 * 1024;

/** Receives the response to a capture. One of the two methods is called once. */
export interface CaptureReply {
  /** The capture is on disk, with this index if one is assigned. The response repeats `challenge`, which is ASCII. */
  captured(index?: number, challenge?: string): void;
  /** The capture was not stored. */
  refused(refusal: Refusal): void;
}

/** The request may be captured. `capture` takes ownership of its whole body and the reservation. */
export interface Admission {
  /** Covers the bytes of the body that have arrived. */
  readonly reservation: Reservation;
  /** The response if there is no memory for the rest of the body. */
  readonly refuseForMemory: () => Refusal;
  readonly capture: (body: Buffer | null, reply: CaptureReply) => void;
}

export type Verdict = Admission | Refusal;

/** The body of an admitted request, while it arrives. It ends with `capture` or with `discard`. */
export class ArrivingBody {
  readonly reply: PlainReply;
  readonly #length: number;
  readonly #admission: Admission;
  #left: number;
  #timer: NodeJS.Timeout | undefined;
  /** The body, if it arrived at once. Otherwise its parts. */
  #whole: Buffer | undefined;
  #parts: BodyBuffer | undefined;

  constructor(reply: PlainReply, length: number, admission: Admission) {
    this.reply = reply;
    this.#length = length;
    this.#left = length;
    this.#admission = admission;
  }

  /** Calls `onLate` if the body is incomplete after this many milliseconds. */
  limitTime(milliseconds: number, onLate: () => void): void {
    if (this.#admission.reservation.bytes < this.#length) this.#timer = setTimeout(onLate, milliseconds);
  }

  /** Bytes that have not arrived yet. */
  get left(): number {
    return this.#left;
  }

  /** It arrived in parts, and the work at its end waits for the connection's turn. */
  get isLarge(): boolean {
    return this.#parts !== undefined && this.#length >= DEFERRED_BODY_BYTES;
  }

  /** Adds the next bytes, from `from` to `to`. False if there is no memory for them. */
  add(bytes: Buffer, from: number, to: number): boolean {
    const { reservation } = this.#admission;
    const missing = this.#length - this.#left + to - from - reservation.bytes;
    if (missing > 0 && !reservation.grow(missing)) return false;
    this.#left -= to - from;
    if (to - from === this.#length) this.#whole = copyBody(bytes, from, to);
    else (this.#parts ??= new BodyBuffer(this.#length)).add(bytes.subarray(from, to));
    if (this.#left === 0) clearTimeout(this.#timer);
    return true;
  }

  /** Passes on the complete body. */
  capture(): void {
    this.#admission.capture(this.#whole ?? this.#parts?.take() ?? null, this.reply);
  }

  refuseForMemory(): Refusal {
    return this.#admission.refuseForMemory();
  }

  discard(): void {
    clearTimeout(this.#timer);
    this.#parts?.clear();
    this.#admission.reservation.release();
  }
}

/** The position of one request in the responses of its connection. */
export class PlainReply implements CaptureReply {
  readonly #flush: () => void;
  /** The connection ends with this response. */
  isLast: boolean;
  isReady = false;
  #index: number | undefined;
  #challenge: string | undefined;
  #refusal: Refusal | undefined;

  constructor(keepsAlive: boolean, flush: () => void) {
    this.isLast = !keepsAlive;
    this.#flush = flush;
  }

  captured(index?: number, challenge?: string): void {
    this.#index = index;
    this.#challenge = challenge;
    this.isReady = true;
    this.#flush();
  }

  refused(refusal: Refusal): void {
    this.#refusal = refusal;
    this.isReady = true;
    this.#flush();
  }

  text(keepsAlive: boolean): string {
    if (this.#refusal === undefined) return rawCaptured(this.#index, keepsAlive, this.#challenge);
    return rawRefusal(this.#refusal, keepsAlive);
  }
}
