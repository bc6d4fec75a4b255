import type { z } from 'zod';
import type { ProblemCode } from '../problems.ts';

/**
 * One operation of the API. The routes, the validation, the client and the OpenAPI document are all derived from these definitions.
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path template as in OpenAPI: `/api/endpoints/{uid}`. */
  readonly path: string;
  readonly summary: string;
  /** By default 401 without a session. A path with `{uid}` answers 404 to every user except the owner. */
  readonly access?: 'public';
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** By default a body has at most 1 MiB. `replay`: 1 MiB more than MAX_BODY_BYTES. */
  readonly bodyLimit?: 'replay';
  /** Status of a successful response, if it is not the default of `statusOf`. */
  readonly status?: 201 | 202;
  /** Schema of the response body. `bytes` for a download. */
  readonly answer?: z.ZodType | 'bytes';
  /** Media type of an answer of bytes, `application/octet-stream` by default. */
  readonly mediaType?: 'application/x-ndjson';
  /** True if the response can have a `Link: <…>; rel="next"` header (RFC 8288). */
  readonly paged?: true;
  /** Problems besides those that `problemsOf` adds. */
  readonly problems?: readonly ProblemCode[];
}

/** All problems of an operation. */
export function problemsOf({ access, method, path, query, body, problems = [] }: Operation): ProblemCode[] {
  const codes: ProblemCode[] = [...problems, 'INTERNAL', 'UNAVAILABLE'];
  if (path.includes('{uid}')) codes.unshift('ENDPOINT_NOT_FOUND');
  if (access !== 'public') codes.push('NOT_SIGNED_IN');
  if (body !== undefined || query !== undefined) codes.push('VALIDATION_FAILED');
  // The server also reads the body of a call that needs none.
  if (method !== 'GET') codes.push('CROSS_ORIGIN', 'MALFORMED_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  return codes;
}

/** The status of a successful response: by default 200 with a body, and 204 without one. */
export function statusOf({ status, answer }: Operation): number {
  return status ?? (answer === undefined ? 204 : 200);
}
