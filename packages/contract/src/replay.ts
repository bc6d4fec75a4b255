import { z } from 'zod';
import { bodyEncodingSchema } from './captured-request.ts';
import type { RawHeaders } from './captured-request.ts';
import { METHOD_NAME, TOKEN } from './token.ts';

/** What the replay panel offers (spec 2); a call may name any other method that carries a request. */
export const REPLAY_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

/** Bytes of a target's answer at most; what is behind them is cut and marked (contract 4). */
export const MAX_REPLAY_ANSWER_BYTES = 1024 * 1024;

const headerPairSchema = z.object({ key: z.string(), value: z.string() });
export type HeaderPair = z.infer<typeof headerPairSchema>;

const URL_SENTENCE = 'Please enter a valid URL';
const USER_SENTENCE =
  'The URL holds a name or a password, which would be sent in the clear. Please use an Authorization header.';
const METHOD_SENTENCE = 'The method must be the name of a method that carries a request.';
const SOURCE_SENTENCE = 'bodyFrom must name a stored request by endpointUid and id.';
const BASE64_SENTENCE = 'The body is not valid base64.';

/** Longest URL, in characters: a captured target with its query may have most of 64 KiB. */
const MAX_URL_LENGTH = 70_000;
/** Longest part of a host's name between two dots (RFC 1035 2.3.4). */
const MAX_LABEL = 63;

/** An absolute http or https URL whose host can exist. */
function isTargetUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return false;
  const { protocol, hostname, port } = new URL(text);
  if (!/^https?:$/.test(protocol) || port === '0') return false;
  return hostname.split('.').every((label) => label.length <= MAX_LABEL);
}

/** An absolute http or https URL, as text (contract 4). A name or a password in it is refused: they belong into a header. */
export const targetUrlSchema = z
  .string({ error: URL_SENTENCE })
  .trim()
  .refine(isTargetUrl, { error: URL_SENTENCE, abort: true })
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', { error: USER_SENTENCE });

/** CONNECT asks for a tunnel and has no path; TRACE gives a request's secrets back (RFC 9110 9.3.6 and 9.3.8). */
const NO_REPLAY: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);

const methodSchema = z
  .string({ error: METHOD_SENTENCE })
  .regex(METHOD_NAME, { error: METHOD_SENTENCE })
  .refine((method) => !NO_REPLAY.has(method.toUpperCase()), { error: METHOD_SENTENCE });

/** As a captured request's headers are written: a character for each byte (RFC 9110 5.5, obs-text included), no control characters. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Around a name or a value, spaces and tabs mean nothing (RFC 9110 5.5). */
function withoutSpace(text: string): string {
  return text.replaceAll(/^[ \t]+|[ \t]+$/g, '');
}

/** Headers as they are sent: in order, with their repeats; what has an empty name or value is dropped (spec 5). */
function toRawHeaders(headers: readonly HeaderPair[] | Readonly<Record<string, string>>): RawHeaders {
  const pairs = Array.isArray(headers)
    ? headers.map(({ key, value }: HeaderPair): [string, string] => [key, value])
    : Object.entries(headers);
  return pairs
    .map(([name, value]): [string, string] => [withoutSpace(name), withoutSpace(value)])
    .filter(([name, value]) => name !== '' && value !== '');
}

/** What is wrong with a header, as a sentence for a person. */
function headerMistake([name, value]: readonly [string, string]): string | undefined {
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
  if (!TOKEN.test(name)) return `The header name ${shown} has characters that no header name may have.`;
  if (!FIELD_VALUE.test(value)) return `The value of the header ${shown} has characters that no header may have.`;
  return undefined;
}

const headersSchema = z
  .union([z.array(headerPairSchema), z.record(z.string(), z.string())], {
    error: 'headers must be a list of { key, value }, or an object.',
  })
  .default([])
  .transform(toRawHeaders)
  .superRefine((headers, context) => {
    const mistake = headers.map(headerMistake).find((sentence) => sentence !== undefined);
    if (mistake !== undefined) context.addIssue({ code: 'custom', message: mistake });
  });

/** Base64 of whole bytes, padded or not (RFC 4648 4). */
function isBase64(text: string): boolean {
  const [, digits = '', padding = ''] = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(text) ?? [];
  const isWhole = digits.length % 4 !== 1 && digits.length + padding.length === text.length;
  return isWhole && (padding === '' || text.length % 4 === 0);
}

/** What to send again, and where. `bodyFrom` sends a stored request's bytes exactly, in place of `body` (contract 4). */
export const replaySchema = z
  .object({
    method: methodSchema,
    url: targetUrlSchema,
    headers: headersSchema,
    body: z.string({ error: 'The body must be text, or base64 of its bytes.' }).nullish(),
    bodyEncoding: z.enum(bodyEncodingSchema.options, { error: 'bodyEncoding must be utf8 or base64.' }).optional(),
    bodyFrom: z
      .object(
        { endpointUid: z.string({ error: SOURCE_SENTENCE }), id: z.int({ error: SOURCE_SENTENCE }) },
        { error: SOURCE_SENTENCE },
      )
      .nullish(),
  })
  .refine(({ body, bodyEncoding }) => bodyEncoding !== 'base64' || isBase64(body ?? ''), {
    error: BASE64_SENTENCE,
    path: ['body'],
  });
export type ReplayOrder = z.output<typeof replaySchema>;

/** What the target answered, whatever its status. `body` is cut at 1 MiB, or where the target broke off, and then marked. */
export const replayAnswerSchema = z.object({
  status: z.int(),
  statusText: z.string(),
  /** As they came, repeats and order included. */
  headers: z.array(headerPairSchema),
  body: z.string().nullable(),
  bodyEncoding: bodyEncodingSchema,
  bodyTruncated: z.boolean(),
  /** Milliseconds from the first step, the look-up of the name, to the answer's end. */
  durationMs: z.number(),
});
export type ReplayAnswer = z.infer<typeof replayAnswerSchema>;

/** Headers that belong to a connection, not to a message: whoever sends it again makes its own (RFC 9110 7.6.1). */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What a message's `Connection` header names, in lower case. */
function namedByConnection(headers: RawHeaders): ReadonlySet<string> {
  return new Set(
    headers
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map((name) => name.trim().toLowerCase()),
  );
}

/** A message's headers without those of the connection that it came on, and those that its `Connection` header names. */
export function endToEndHeaders(headers: RawHeaders): RawHeaders {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()) && !named.has(name.toLowerCase()));
}

/** A message about to be sent again. */
export interface ReplayHead {
  readonly method: string;
  /** What stands in the `Host` header: the host, and the port where it is not the scheme's own (RFC 9110 7.2). */
  readonly authority: string;
  readonly headers: RawHeaders;
  readonly bodyBytes: number;
  /** The name by which the sender goes where the headers have none. */
  readonly userAgent: string;
}

/** Methods whose request has no content by its nature. With any other one, a length of 0 says that there is none (RFC 9110 8.6). */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/**
 * The lines behind the request line, in the order in which they are sent: whom it is for, what was captured or given in its own case,
 * order and number, and what belongs to this connection.
 */
export function replayHeaderLines({ method, authority, headers, bodyBytes, userAgent }: ReplayHead): RawHeaders {
  const own = endToEndHeaders(headers);
  const lines: RawHeaders = [['Host', authority], ...own];
  if (!own.some(([name]) => name.toLowerCase() === 'user-agent')) lines.push(['User-Agent', userAgent]);
  if (bodyBytes > 0 || !WITHOUT_CONTENT.has(method.toUpperCase())) lines.push(['Content-Length', String(bodyBytes)]);
  lines.push(['Connection', 'close']);
  return lines;
}
