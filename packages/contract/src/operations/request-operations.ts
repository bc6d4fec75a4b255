import { z } from 'zod';
import { capturedRequestSchema, foundRequestSchema } from '../captured-request.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SCANNED_REQUESTS } from '../limits.ts';
import { replayAnswerSchema, replaySchema } from '../replay.ts';
import { METHOD_NAME } from '../token.ts';
import type { Operation } from './operation.ts';

const LIMIT_SENTENCE = 'limit must be a whole number from 1 up';
const SCAN_SENTENCE = 'scan must be a whole number from 1 up';
const BEFORE_SENTENCE = 'before must be the index of a request';
const METHOD_SENTENCE = 'method must be the name of a method';
const INDEX_SENTENCE = 'index must be a whole number';

/** `?limit=`: 1 and up, more than the most counts as the most, nonsense is a mistake (contract 4). */
const limitSchema = z
  .string({ error: LIMIT_SENTENCE })
  .regex(/^[1-9]\d{0,99}$/, { error: LIMIT_SENTENCE })
  .transform((digits) => Math.min(Number(digits), MAX_PAGE_SIZE))
  .default(DEFAULT_PAGE_SIZE);

const pageQuerySchema = z.object({
  limit: limitSchema,
  before: z
    .string({ error: BEFORE_SENTENCE })
    .regex(/^\d{1,100}$/, { error: BEFORE_SENTENCE })
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .optional(),
  method: z.string({ error: METHOD_SENTENCE }).regex(METHOD_NAME, { error: METHOD_SENTENCE }).optional(),
});
export type PageQuery = z.output<typeof pageQuerySchema>;

const searchQuerySchema = z.object({
  q: z
    .string({ error: 'Please enter something to search for' })
    .min(1, { error: 'Please enter something to search for' })
    .refine((text) => text.trim() !== '', { error: 'Please enter something to search for' }),
  /** Searches only this endpoint. */
  endpoint: z.string({ error: 'endpoint must be the uid of an endpoint' }).optional(),
  limit: limitSchema,
  /**
   * How many stored requests this call looks at. A call that ends there has a `Link` to the next one, also where its page is not full.
   */
  scan: z
    .string({ error: SCAN_SENTENCE })
    .regex(/^[1-9]\d{0,99}$/, { error: SCAN_SENTENCE })
    .transform((digits) => Math.min(Number(digits), MAX_SCANNED_REQUESTS))
    .default(MAX_SCANNED_REQUESTS),
  /** Where the page before ended; opaque, taken from its `Link` header. */
  before: z
    .string({ error: 'before must come from a Link header' })
    .regex(/^\d{1,16}-\d{1,16}-\d{1,16}$/, { error: 'before must come from a Link header' })
    .optional(),
});

/** Captured requests: lists, one, its bytes, saving, deleting, search, replay (contract 4). */
export const requestOperations = {
  listSaved: {
    method: 'GET',
    path: '/api/endpoints/{uid}/requests',
    summary: 'Saved requests, newest first',
    access: 'user',
    query: pageQuerySchema,
    status: 200,
    answer: z.array(capturedRequestSchema),
    paged: true,
    problems: ['ENDPOINT_NOT_FOUND'],
  },
  listUnsaved: {
    method: 'GET',
    path: '/api/endpoints/{uid}/temp-requests',
    summary: 'Unsaved requests, newest first',
    access: 'user',
    query: pageQuerySchema,
    status: 200,
    answer: z.array(capturedRequestSchema),
    paged: true,
    problems: ['ENDPOINT_NOT_FOUND'],
  },
  getRequest: {
    method: 'GET',
    path: '/api/endpoints/{uid}/requests/{id}',
    summary: 'One request with its text whole',
    access: 'user',
    status: 200,
    answer: capturedRequestSchema,
    problems: ['ENDPOINT_NOT_FOUND', 'REQUEST_NOT_FOUND'],
  },
  getRequestBody: {
    method: 'GET',
    path: '/api/endpoints/{uid}/requests/{id}/body',
    summary: 'The exact bytes of the body, as a download',
    access: 'user',
    status: 200,
    answer: 'bytes',
    problems: ['ENDPOINT_NOT_FOUND', 'REQUEST_NOT_FOUND'],
  },
  saveRequest: {
    method: 'POST',
    path: '/api/endpoints/{uid}/save-request',
    summary: 'Saves the request with this index; saving it again answers the same',
    access: 'user',
    body: z.object({
      // Negative too: an index that no request has is a 404 like every other (contract 4).
      index: z
        .number({ error: INDEX_SENTENCE })
        .refine(Number.isInteger, { error: INDEX_SENTENCE })
        .transform((index) => Math.min(Math.max(index, -1), Number.MAX_SAFE_INTEGER)),
    }),
    status: 200,
    answer: capturedRequestSchema,
    problems: ['ENDPOINT_NOT_FOUND', 'REQUEST_NOT_FOUND', 'SAVED_LIMIT'],
  },
  deleteRequest: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}/requests/{id}',
    summary: 'Deletes one request, saved or unsaved',
    access: 'user',
    status: 204,
    problems: ['ENDPOINT_NOT_FOUND', 'REQUEST_NOT_FOUND'],
  },
  clearRequests: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}/requests',
    summary: 'Deletes all requests, saved and unsaved',
    access: 'user',
    status: 204,
    problems: ['ENDPOINT_NOT_FOUND'],
  },
  search: {
    method: 'GET',
    path: '/api/search',
    summary: "The user's stored requests that match a query, newest first",
    access: 'user',
    query: searchQuerySchema,
    status: 200,
    answer: z.array(foundRequestSchema),
    paged: true,
    problems: ['ENDPOINT_NOT_FOUND', 'INVALID_QUERY', 'RATE_LIMITED'],
  },
  replay: {
    method: 'POST',
    path: '/api/replay',
    summary: 'Sends a request to a target and answers with what the target said',
    access: 'user',
    body: replaySchema,
    bodyLimit: 'replay',
    status: 200,
    answer: replayAnswerSchema,
    problems: ['REPLAY_FAILED', 'TARGET_NOT_ALLOWED', 'REQUEST_NOT_FOUND', 'RATE_LIMITED', 'UNAVAILABLE'],
  },
} as const satisfies Record<string, Operation>;
