import { z } from 'zod';
import { bodyEncodingSchema, deliveryKindSchema } from './captured-request.ts';
import { METHOD_NAME } from './limits.ts';
import { headerPairSchema, isBase64, METHOD_SENTENCE, targetUrlSchema } from './replay.ts';

/** Maximum number of destinations of an endpoint. */
export const MAX_DESTINATIONS = 5;
/** Maximum number of stored attempts of a request. */
export const MAX_ATTEMPTS_PER_REQUEST = 50;
/** Maximum number of pending deliveries of an endpoint. */
export const MAX_PENDING_DELIVERIES = 10_000;
/** Maximum stored bytes of a destination's response. */
export const MAX_DELIVERY_RESPONSE_BYTES = 16 * 1024;
/** Maximum stored characters of a status text, and of the reason why there was no response. */
export const MAX_REASON_CHARS = 1000;
/** Number of latest statuses that a destination reports. */
export const MAX_RECENT_STATUSES = 20;
/** Failed attempts in a row after which a destination is paused. */
export const MAX_FAILURES_IN_A_ROW = 50;

/** Active, or paused after too many failures in a row. While it is paused, its pending deliveries wait. */
const destinationStateSchema = z.discriminatedUnion('name', [
  z.object({ name: z.literal('active') }),
  z.object({ name: z.literal('paused'), since: z.iso.datetime(), reason: z.string() }),
]);

/** Where the captures of an endpoint are forwarded. */
export const destinationSchema = z.object({
  id: z.int(),
  url: z.string(),
  /** Adds the captured path and query to the URL. */
  appendPath: z.boolean(),
  enabled: z.boolean(),
  /** Query of docs/query-language.md that a capture must match. Empty for all. */
  query: z.string(),
  /** Renews the signature of forwarded requests. */
  sign: z.boolean(),
  state: destinationStateSchema,
  /** Number of deliveries that wait for an attempt. */
  pending: z.int(),
  /** Statuses of the latest attempts, oldest first. `null` without a response. */
  recentStatuses: z.array(z.int().nullable()).default([]),
  createdAt: z.iso.datetime(),
});
export type Destination = z.infer<typeof destinationSchema>;

/**
 * The URL of a delivery. With `appendPath`, the captured path and query follow those of the destination. A `#` in them is encoded,
 * because in a URL it starts a fragment, which is not sent.
 */
export function forwardedUrl(url: string, appendPath: boolean, capturedTarget: string): string {
  if (!appendPath || capturedTarget === '') return url;
  return withCapturedTarget(url, capturedTarget.replaceAll('#', '%23'));
}

/** A URL, or its path and query, followed by the captured path and query. */
export function withCapturedTarget(url: string, capturedTarget: string): string {
  const [, base = url, ownQuery = ''] = /^([^?#]*)(?:\?([^#]*))?/.exec(url) ?? [];
  const [, path = '', query = ''] = /^([^?]*)(\?.*)?$/s.exec(capturedTarget) ?? [];
  const joined = path === '' ? base : base.replace(/\/$/, '') + path;
  if (ownQuery === '') return joined + query;
  return query.length < 2 ? `${joined}?${ownQuery}` : `${joined}?${ownQuery}&${query.slice(1)}`;
}

/** `..` in a path, even if it is percent-encoded, or followed by parameters, which some servers ignore. */
const DOUBLE_DOT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){2}(?:;[^/\\]*?)?(?:$|[/\\]|%2f|%5c)/i;

/**
 * True if a captured target that is appended to a URL could lead out of its path. A sender must not reach other parts of the receiver
 * than the user chose.
 */
export function leavesBasePath(baseUrl: string, capturedTarget: string): boolean {
  const [path = ''] = capturedTarget.split('?', 1);
  return new URL(baseUrl).pathname !== '/' && DOUBLE_DOT.test(path);
}

/** Why a request is not sent to a URL that its captured path could leave. */
export const LEAVES_BASE_PATH =
  "The captured path has “..”, which could lead out of the destination's path. It was not sent.";

const flag = (name: string) => z.boolean(`${name} must be true or false`);
const querySchema = z
  .string('query must be text')
  .refine((text) => !text.includes('\0'), 'query must not contain the character NUL');

/** The settings of a new destination: docs/api.md, "Deliveries". Absent fields get their defaults. */
export const destinationCreateSchema = z.object({
  url: targetUrlSchema,
  appendPath: flag('appendPath').default(false),
  enabled: flag('enabled').default(true),
  query: querySchema.default(''),
  sign: flag('sign').default(false),
});
export type DestinationCreate = z.output<typeof destinationCreateSchema>;

/** Absent fields stay as they are. */
export const destinationChangeSchema = z.object({
  url: targetUrlSchema.optional(),
  appendPath: flag('appendPath').optional(),
  enabled: flag('enabled').optional(),
  query: querySchema.optional(),
  sign: flag('sign').optional(),
});
export type DestinationChange = z.output<typeof destinationChangeSchema>;

/** True for a 2xx status. Everything else is a failure, including no response. */
export function isDelivered(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** An attempt to send a captured request to one place. */
export const deliveryAttemptSchema = z.object({
  id: z.int(),
  /** The same for all attempts of one delivery. Sent as `Creel-Delivery`. */
  deliveryId: z.string(),
  kind: deliveryKindSchema,
  /** `null` for a replay, for `creel forward` and for a deleted destination. */
  destinationId: z.int().nullable(),
  url: z.string(),
  method: z.string(),
  /** From 1 up, or 0 for a delivery that waits for its first attempt. */
  attempt: z.int(),
  /** `null` without a response. */
  status: z.int().nullable(),
  statusText: z.string(),
  /** Why there was no response, or `null`. */
  error: z.string().nullable(),
  durationMs: z.number(),
  at: z.iso.datetime(),
  /** The earliest time of the next attempt, which passes while the destination is off or paused. `null` if none is planned. */
  nextAttemptAt: z.iso.datetime().nullable(),
  responseHeaders: z.array(headerPairSchema),
  responseBody: z.string().nullable(),
  responseBodyEncoding: bodyEncodingSchema,
  /** True if `responseBody` is only the beginning of the response. */
  responseTruncated: z.boolean(),
});
export type DeliveryAttempt = z.infer<typeof deliveryAttemptSchema>;

/** An attempt without the response's body, as in live messages. */
export const deliverySummarySchema = deliveryAttemptSchema.omit({
  responseHeaders: true,
  responseBody: true,
  responseBodyEncoding: true,
  responseTruncated: true,
});
export type DeliverySummary = z.infer<typeof deliverySummarySchema>;

const REPORT_SENTENCE = 'Describe the attempt with url, method, attempt, status or error, durationMs and at.';
const STATUS_SENTENCE = 'status must be a number from 100 to 999, or null';
const DURATION_SENTENCE = 'durationMs must be a number of milliseconds';
const HEADERS_SENTENCE = 'responseHeaders must be a list of at most 1000 { key, value }, with 64 KiB at most';
/** As many as the server and `creel forward` read of a response. A list has those of 50 attempts. */
const MAX_REPORTED_HEADER_CHARS = 64 * 1024;

const reportText = (name: string) =>
  z
    .string(`${name} must be text`)
    .max(MAX_REASON_CHARS, `${name} must be at most ${MAX_REASON_CHARS} characters`)
    .nullable();
const reportedHeaderSchema = z.object(
  { key: z.string(HEADERS_SENTENCE), value: z.string(HEADERS_SENTENCE) },
  HEADERS_SENTENCE,
);

/** What `creel forward` sent and what the program on the user's machine answered. */
export const deliveryReportSchema = z
  .object(
    {
      url: targetUrlSchema,
      // Unlike the server, the user's machine also sends TRACE.
      method: z.string(METHOD_SENTENCE).regex(METHOD_NAME, METHOD_SENTENCE),
      attempt: z.int('attempt must be a whole number').min(1, 'attempt must be 1 or more'),
      status: z.int(STATUS_SENTENCE).min(100, STATUS_SENTENCE).max(999, STATUS_SENTENCE).nullable(),
      statusText: reportText('statusText').default(null),
      error: reportText('error').default(null),
      durationMs: z.number(DURATION_SENTENCE).min(0, DURATION_SENTENCE).max(Number.MAX_SAFE_INTEGER, DURATION_SENTENCE),
      at: z.iso.datetime({ offset: true, error: 'at must be a time in ISO 8601' }),
      responseHeaders: z
        .array(reportedHeaderSchema, HEADERS_SENTENCE)
        .max(1000, HEADERS_SENTENCE)
        .refine(
          (headers) =>
            headers.reduce((sum, { key, value }) => sum + key.length + value.length, 0) <= MAX_REPORTED_HEADER_CHARS,
          HEADERS_SENTENCE,
        )
        .default([]),
      responseBody: z.string('responseBody must be text or null').nullable().default(null),
      responseBodyEncoding: z
        .enum(bodyEncodingSchema.options, 'responseBodyEncoding must be utf8 or base64')
        .default('utf8'),
      /** True if `responseBody` is only the beginning of the response. */
      responseTruncated: flag('responseTruncated').default(false),
    },
    REPORT_SENTENCE,
  )
  .refine(({ responseBody, responseBodyEncoding: coding }) => coding !== 'base64' || isBase64(responseBody ?? ''), {
    error: 'responseBody is not valid base64',
    path: ['responseBody'],
  });
export type DeliveryReport = z.output<typeof deliveryReportSchema>;
