import { z } from 'zod';
import { bodyEncodingSchema } from './captured-request.ts';
import type { RawHeaders } from './raw-headers.ts';
import { endToEndHeaders, firstHeader } from './raw-headers.ts';
import { FIELD_VALUE, MAX_HEADER_LINES, METHOD_NAME, TOKEN } from './limits.ts';

/** Methods in the replay form. A call may use any method except CONNECT and TRACE. */
export const REPLAY_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

/** Maximum bytes of a destination's response. Longer responses are cut and marked. */
export const MAX_REPLAY_RESPONSE_BYTES = 1024 * 1024;

/** A header: its name and its value. */
export const headerPairSchema = z.object({ key: z.string(), value: z.string() });
export type HeaderPair = z.infer<typeof headerPairSchema>;

const URL_SENTENCE = 'Please enter a valid URL';
const USER_SENTENCE =
  'The URL holds a name or a password, which would be sent in the clear. Please use an Authorization header.';
export const METHOD_SENTENCE = 'The method must be the name of a method that carries a request.';
export const BASE64_SENTENCE = 'The body is not valid base64.';

/** Maximum length of a URL, in characters. A captured target can have almost 64 KiB. */
const MAX_URL_LENGTH = 70_000;
/** Maximum length of a label in a host name (RFC 1035, section 2.3.4). */
const MAX_HOST_LABEL = 63;

/** True for an absolute http or https URL with a valid host name. URLs are stored, and PostgreSQL's text has no NUL. */
function isTargetUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || text.includes('\0') || !URL.canParse(text)) return false;
  const { protocol, hostname, port } = new URL(text);
  if (!/^https?:$/.test(protocol) || port === '0') return false;
  return hostname.split('.').every((label) => label.length <= MAX_HOST_LABEL);
}

/** An absolute http or https URL without a username or password, which belong in a header. */
export const targetUrlSchema = z
  .string(URL_SENTENCE)
  .trim()
  .refine(isTargetUrl, { error: URL_SENTENCE, abort: true })
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', USER_SENTENCE);

/** CONNECT opens a tunnel and has no path. TRACE returns the request's secrets (RFC 9110, sections 9.3.6 and 9.3.8). */
export const METHODS_WITHOUT_REPLAY: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);

const methodSchema = z
  .string(METHOD_SENTENCE)
  .regex(METHOD_NAME, METHOD_SENTENCE)
  .refine((method) => !METHODS_WITHOUT_REPLAY.has(method.toUpperCase()), METHOD_SENTENCE);

/**
 * Removes spaces and tabs around a name or value, which are not part of it (RFC 9110, section 5.5). A regular expression
 * takes quadratic time for spaces within a value.
 */
function withoutSpace(text: string): string {
  const isSpace = (at: number): boolean => text[at] === ' ' || text[at] === '\t';
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return text.slice(start, end);
}

const TOO_MANY_HEADERS = `headers must have at most ${MAX_HEADER_LINES} entries.`;

/**
 * Converts a map of headers to a list, because zod drops a name `__proto__` from maps. Returns `null` for a list with a wrong item:
 * zod would collect the mistakes of all items, which takes seconds for half a million. Other values are left to zod.
 */
function listHeaders(headers: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof headers !== 'object' || headers === null) return headers;
  if (Object.keys(headers).length > MAX_HEADER_LINES) {
    context.addIssue({ code: 'custom', message: TOO_MANY_HEADERS });
    return z.NEVER;
  }
  const list: unknown[] = Array.isArray(headers)
    ? headers
    : Object.entries(headers).map(([key, value]) => ({ key, value: value as unknown }));
  return list.every((item) => headerPairSchema.safeParse(item).success) ? list : null;
}

/** Headers to send, in order and with repeats. Headers with an empty name or value are dropped. */
function toRawHeaders(headers: readonly HeaderPair[]): RawHeaders {
  return headers
    .map(({ key, value }): [string, string] => [withoutSpace(key), withoutSpace(value)])
    .filter(([name, value]) => name !== '' && value !== '');
}

/** Returns a sentence about what is wrong with a header, or `undefined`. */
function headerMistake([name, value]: readonly [string, string]): string | undefined {
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
  if (!TOKEN.test(name)) return `The header name ${shown} has characters that no header name may have.`;
  if (!FIELD_VALUE.test(value)) return `The value of the header ${shown} has characters that no header may have.`;
  return undefined;
}

const headersSchema = z
  .preprocess(
    listHeaders,
    // `listHeaders` leaves no map. The OpenAPI document describes the input from this.
    z.union(
      [z.array(headerPairSchema), z.record(z.string(), z.string()).pipe(z.never())],
      'headers must be a list of { key, value }, or an object.',
    ),
  )
  .default([])
  .transform(toRawHeaders)
  .superRefine((headers, context) => {
    const mistake = headers.map(headerMistake).find((sentence) => sentence !== undefined);
    if (mistake !== undefined) context.addIssue({ code: 'custom', message: mistake });
  });

/** Base64 with or without padding (RFC 4648, section 4). */
export function isBase64(text: string): boolean {
  const [, digits = '', padding = ''] = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(text) ?? [];
  const isWhole = digits.length % 4 !== 1 && digits.length + padding.length === text.length;
  return isWhole && (padding === '' || text.length % 4 === 0);
}

function storedRequestSchema(field: string) {
  const error = `${field} must name a stored request by endpointUid and id.`;
  return z.object({ endpointUid: z.string(error), id: z.int(error) }, error);
}

/** A request to send. With `bodyFrom`, the body is the exact bytes of a stored request instead of `body`. */
export const replaySchema = z
  .object({
    method: methodSchema,
    url: targetUrlSchema,
    headers: headersSchema,
    body: z.string('The body must be text, or base64 of its bytes.').nullish(),
    bodyEncoding: z.enum(bodyEncodingSchema.options, 'bodyEncoding must be utf8 or base64.').optional(),
    bodyFrom: storedRequestSchema('bodyFrom').nullish(),
    /** The captured request that this replay belongs to. `bodyFrom` implies it. */
    of: storedRequestSchema('of').nullish(),
    /** Renews the signature with the signing secret of the endpoint. */
    sign: z.boolean('sign must be true or false.').default(false),
  })
  .refine(({ body, bodyEncoding }) => bodyEncoding !== 'base64' || isBase64(body ?? ''), {
    error: BASE64_SENTENCE,
    path: ['body'],
  });
export type ReplayInput = z.output<typeof replaySchema>;

/** The destination's response with any status. `bodyTruncated` marks a body that was cut at 1 MiB or whose connection broke. */
export const replayAnswerSchema = z.object({
  status: z.int(),
  statusText: z.string(),
  /** As received, with order and repeats. */
  headers: z.array(headerPairSchema),
  body: z.string().nullable(),
  bodyEncoding: bodyEncodingSchema,
  bodyTruncated: z.boolean(),
  /** Milliseconds from the start of the DNS lookup to the end of the response. */
  durationMs: z.number(),
});
export type ReplayAnswer = z.infer<typeof replayAnswerSchema>;

/** A request to send. */
export interface ReplayHead {
  readonly method: string;
  /** Returns the `Host` value: the host, and the port if it is not the default of the scheme (RFC 9110, section 7.2). */
  readonly authority: string;
  readonly headers: RawHeaders;
  readonly bodyBytes: number;
  /** `User-Agent` if the headers have none. */
  readonly userAgent: string;
}

/** Methods whose requests usually have no body. Other methods send `Content-Length: 0` without one (RFC 9110, section 8.6). */
const METHODS_WITHOUT_CONTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/**
 * Returns the header lines in the order in which they are sent: `Host`, the given headers unchanged, and the headers of
 * this connection.
 */
export function replayHeaderLines({ method, authority, headers, bodyBytes, userAgent }: ReplayHead): RawHeaders {
  const own = endToEndHeaders(headers);
  const lines: RawHeaders = [['Host', authority], ...own];
  if (firstHeader(own, 'user-agent') === undefined) lines.push(['User-Agent', userAgent]);
  if (bodyBytes > 0 || !METHODS_WITHOUT_CONTENT.has(method.toUpperCase()))
    lines.push(['Content-Length', String(bodyBytes)]);
  lines.push(['Connection', 'close']);
  return lines;
}
