import type { z } from 'zod';
import type { ProblemCode } from '../problems.ts';

/**
 * One call of the API. Routing, validation, the clients and the OpenAPI document are all made from these rows, so that a call is
 * described once (contract 4).
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path template in the notation of OpenAPI: `/api/endpoints/{uid}`. */
  readonly path: string;
  readonly summary: string;
  /** Who may call it. `user`: 401 without a session. A path with `{uid}` is the owner's alone: 404 for everybody else. */
  readonly access: 'public' | 'user';
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Body limit in bytes where it is not 1 MiB. `replay`: MAX_BODY_BYTES and 1 MiB more (contract 1). */
  readonly bodyLimit?: 'replay';
  readonly status: 200 | 201 | 204;
  /** The body of the answer; absent for 204; `bytes` for a download. */
  readonly answer?: z.ZodType | 'bytes';
  /** True when the answer may carry `Link: <…>; rel="next"` (RFC 8288). */
  readonly paged?: true;
  /** What can go wrong besides what any call can meet (validation, sign-in, size, rate). */
  readonly problems: readonly ProblemCode[];
}
