import { z } from 'zod';
import {
  bodyEncodingSchema,
  capturedRequestSchema,
  foundRequestSchema,
  requestDetailSchema,
} from '../captured-request.ts';
import type { RawHeaders } from '../raw-headers.ts';
import {
  DEFAULT_PAGE_SIZE,
  FIELD_VALUE,
  HEADER_SEPARATOR_BYTES,
  MAX_CHANGED_REQUESTS,
  MAX_HEADER_BYTES,
  MAX_HEADER_LINES,
  MAX_HEAD_BYTES,
  MAX_PAGE_SIZE,
  MAX_SCANNED_REQUESTS,
  METHOD_NAME,
  TOKEN,
} from '../limits.ts';
import { BASE64_SENTENCE, isBase64, replayAnswerSchema, replaySchema } from '../replay.ts';
import { searchPositionSchema } from '../search-position.ts';
import type { Operation } from './operation.ts';

const INDEX_SENTENCE = 'index must be a whole number';
const SEARCH_SENTENCE = 'Please enter something to search for';

/** A text of this form. Any other value gets the one sentence. */
const textLike = (form: RegExp, sentence: string) => z.string(sentence).regex(form, sentence);

/** A parameter with a positive integer. A value above the maximum counts as the maximum. */
const countSchema = (name: string, max: number) =>
  textLike(/^[1-9]\d{0,99}$/, `${name} must be a whole number from 1 up`).transform((digits) =>
    Math.min(Number(digits), max),
  );

const methodSchema = textLike(METHOD_NAME, 'method must be the name of a method');
const limitSchema = countSchema('limit', MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE);

const pageQuerySchema = z.object({
  limit: limitSchema,
  before: textLike(/^\d{1,100}$/, 'before must be the index of a request')
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .optional(),
  method: methodSchema.transform((method) => method.toUpperCase()).optional(),
});

const searchQuerySchema = z.object({
  q: z
    .string({ error: ({ input }) => (Array.isArray(input) ? 'q must occur once' : SEARCH_SENTENCE) })
    .min(1, SEARCH_SENTENCE)
    .refine((text) => text.trim() !== '', SEARCH_SENTENCE),
  /** Searches only this endpoint. */
  endpoint: z.string('endpoint must be the uid of an endpoint').optional(),
  limit: limitSchema,
  /**
   * Maximum number of stored requests that this call examines. A call that reaches it sends a `Link`, even if its page is not full.
   */
  scan: countSchema('scan', MAX_SCANNED_REQUESTS).default(MAX_SCANNED_REQUESTS),
  /** Opaque position from the `Link` header of the previous page. */
  before: searchPositionSchema.optional(),
});

const WIRE_SENTENCE = 'rawTarget and rawHeaders must be as they were received';

/** What follows the uid in the target of a request that can be captured. */
const TARGET = /^(?:[/?][!-~]*)?$/;

const lineSchema = z.tuple([textLike(TOKEN, WIRE_SENTENCE), textLike(FIELD_VALUE, WIRE_SENTENCE)], WIRE_SENTENCE);

/** Reads up to the first wrong line. */
function isListOfLines(list: readonly unknown[]): boolean {
  return list.length <= MAX_HEADER_LINES && list.every((line) => lineSchema.safeParse(line).success);
}

/** True if a request with these headers can have been received. */
function isReceivable(rawTarget: string, rawHeaders: RawHeaders): boolean {
  const texts = rawHeaders.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const lines = texts + HEADER_SEPARATOR_BYTES * rawHeaders.length;
  return lines <= MAX_HEADER_BYTES && rawTarget.length + texts <= MAX_HEAD_BYTES;
}

const restoreSchema = z
  .object({
    index: z.number(INDEX_SENTENCE).int(INDEX_SENTENCE).min(0, INDEX_SENTENCE),
    method: methodSchema,
    rawTarget: textLike(TARGET, WIRE_SENTENCE),
    rawHeaders: z.preprocess(
      // Otherwise a list of thousands of wrong items gets a sentence for each, which takes long.
      (list) => (Array.isArray(list) && !isListOfLines(list) ? null : list),
      z.array(lineSchema, WIRE_SENTENCE),
    ),
    body: z.string('body must be text or null').nullable(),
    bodyEncoding: z.enum(bodyEncodingSchema.options, 'bodyEncoding must be utf8 or base64'),
    sourceIp: textLike(/^[\da-fA-F.:%]{0,64}$/, 'sourceIp must be an address'),
    timestamp: z.iso.datetime('timestamp must be an ISO 8601 time in UTC'),
  })
  .refine(({ rawTarget, rawHeaders }) => isReceivable(rawTarget, rawHeaders), {
    error: WIRE_SENTENCE,
    path: ['rawHeaders'],
  })
  .refine(({ body, bodyEncoding }) => bodyEncoding === 'utf8' || isBase64(body ?? ''), {
    error: BASE64_SENTENCE,
    path: ['body'],
  });

const INDEXES_SENTENCE = `indexes must be 1 to ${MAX_CHANGED_REQUESTS.toLocaleString('en-US')} whole numbers`;

/** A wrong list gets one sentence, because one for each of its items would take long. */
const indexesSchema = z.preprocess(
  (list) =>
    Array.isArray(list) && list.length <= MAX_CHANGED_REQUESTS && list.every(Number.isSafeInteger) ? list : null,
  z.array(z.int(), INDEXES_SENTENCE).min(1, INDEXES_SENTENCE).max(MAX_CHANGED_REQUESTS),
);

/** List, read, save, delete, search and replay captured requests: docs/api.md, "Calls". */
export const requestOperations = {
  listSaved: {
    method: 'GET',
    path: '/api/endpoints/{uid}/requests',
    summary: 'List saved requests, newest first',
    query: pageQuerySchema,
    answer: z.array(capturedRequestSchema),
    paged: true,
  },
  listUnsaved: {
    method: 'GET',
    path: '/api/endpoints/{uid}/temp-requests',
    summary: 'List unsaved requests, newest first',
    query: pageQuerySchema,
    answer: z.array(capturedRequestSchema),
    paged: true,
  },
  getRequest: {
    method: 'GET',
    path: '/api/endpoints/{uid}/requests/{id}',
    summary: 'Return a request with its complete body text',
    answer: requestDetailSchema,
    problems: ['REQUEST_NOT_FOUND'],
  },
  getRequestBody: {
    method: 'GET',
    path: '/api/endpoints/{uid}/requests/{id}/body',
    summary: 'Download the exact bytes of a body',
    answer: 'bytes',
    problems: ['REQUEST_NOT_FOUND'],
  },
  saveRequest: {
    method: 'POST',
    path: '/api/endpoints/{uid}/save-request',
    summary: 'Save the request with this index. Saving it again returns the same response',
    body: z.object({
      // Negative numbers are valid input. No request has such an index, so the answer is 404.
      index: z
        .number(INDEX_SENTENCE)
        .refine(Number.isInteger, INDEX_SENTENCE)
        .transform((index) => Math.min(Math.max(index, -1), Number.MAX_SAFE_INTEGER)),
    }),
    answer: capturedRequestSchema,
    problems: ['REQUEST_NOT_FOUND', 'SAVED_LIMIT'],
  },
  saveRequests: {
    method: 'POST',
    path: '/api/endpoints/{uid}/save-requests',
    summary: 'Save the requests with these indexes. Returns those that are saved now',
    body: z.object({ indexes: indexesSchema }),
    answer: z.array(z.object({ index: z.int(), id: z.int() })),
    problems: ['SAVED_LIMIT'],
  },
  restoreRequest: {
    method: 'POST',
    path: '/api/endpoints/{uid}/restore-request',
    summary: 'Save a request that was dropped, with its old index, from a copy that the client still has',
    body: restoreSchema,
    bodyLimit: 'replay',
    answer: capturedRequestSchema,
    problems: ['REQUEST_NOT_FOUND', 'SAVED_LIMIT'],
  },
  deleteRequest: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}/requests/{id}',
    summary: 'Delete a saved or unsaved request',
    problems: ['REQUEST_NOT_FOUND'],
  },
  deleteRequests: {
    method: 'POST',
    path: '/api/endpoints/{uid}/delete-requests',
    summary: 'Delete the requests with these indexes, saved or unsaved. Indexes without a stored request are ignored',
    body: z.object({ indexes: indexesSchema }),
  },
  clearRequests: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}/requests',
    summary: 'Delete all requests, saved and unsaved',
  },
  search: {
    method: 'GET',
    path: '/api/search',
    summary: "List the user's stored requests that match a query, newest first",
    query: searchQuerySchema,
    answer: z.array(foundRequestSchema),
    paged: true,
    problems: ['ENDPOINT_NOT_FOUND', 'INVALID_QUERY', 'RATE_LIMITED'],
  },
  replay: {
    method: 'POST',
    path: '/api/replay',
    summary: "Send a request to a destination and return the destination's response",
    body: replaySchema,
    bodyLimit: 'replay',
    answer: replayAnswerSchema,
    problems: ['REPLAY_FAILED', 'TARGET_NOT_ALLOWED', 'REQUEST_NOT_FOUND', 'RATE_LIMITED', 'UNAVAILABLE'],
  },
} as const satisfies Record<string, Operation>;
