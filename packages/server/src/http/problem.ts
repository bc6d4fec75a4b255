import { PROBLEMS } from '@creel/contract';
import type { ProblemCode, Problem } from '@creel/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { QueueFullError } from '../limits/fair-queue.ts';
import { codeOf } from '../error-code.ts';
import type { Logger } from '../log.ts';
import { linger } from './read-body.ts';
import { StorageUnavailable } from '../database/store.ts';
import type { UnavailableReason } from '../database/store.ts';

/** Why a call or a capture is rejected (docs/api.md, "Errors"). */
export interface Refusal {
  readonly code: ProblemCode;
  /** The sentence for the user; defaults to the code's own. */
  readonly sentence?: string | undefined;
  /** Sentences by field, for validation failures. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Seconds to wait before the next attempt. */
  readonly retryAfter?: number;
  /** Methods for `Allow`, with METHOD_NOT_ALLOWED. */
  readonly allow?: readonly string[];
  /** Additional members of the response body. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The connection ends with the response. */
  readonly close?: true;
}

/** A refusal as an error. Services throw it; `answerError` converts it into a response. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly refusal: Refusal;

  constructor(code: ProblemCode, details: Omit<Refusal, 'code'> = {}) {
    super(details.sentence ?? PROBLEMS[code].sentence);
    this.code = code;
    this.refusal = { code, ...details };
  }
}

/** The client has left, so it reads no answer. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed';
}

/** A validation failure. If all invalid fields have the same sentence, the whole response has it too. */
export function invalid(fields: Readonly<Record<string, string>>): ProblemError {
  const [only, ...others] = new Set(Object.values(fields));
  return new ProblemError('VALIDATION_FAILED', {
    fields,
    ...(only !== undefined && others.length === 0 ? { sentence: only } : {}),
  });
}

/** A query with a mistake, in this field of the input. `position`: where in the query it is, in characters. */
export function invalidQuery(field: string, sentence: string, position: number): ProblemError {
  return new ProblemError('INVALID_QUERY', { sentence, fields: { [field]: sentence }, extra: { position } });
}

/** Other requests use up the available memory, which is soon free again. */
export function overloaded(): ProblemError {
  return new ProblemError('UNAVAILABLE', { retryAfter: 1 });
}

/** Fastify's error for a body that is not JSON. Its other errors do not occur: api-server.ts reads bodies itself. */
const NOT_JSON = 'FST_ERR_CTP_INVALID_MEDIA_TYPE';

/** Default value of `Retry-After` in seconds. */
const RETRY_SECONDS = 5;
const UNAVAILABLE: Readonly<Record<UnavailableReason, string>> = {
  unreachable: 'The database does not answer at the moment. Please try again.',
  'disk-full':
    "The server's disk is full. Delete endpoints or clear their data, or free space on the disk, then try again.",
  'file-replaced':
    'The database was removed or replaced while the server runs. The operator has to restart the server.',
};

/** The body of every answer with an error (docs/api.md, "Errors"), as JSON. */
export function problemJson({ code, fields, extra, sentence = PROBLEMS[code].sentence }: Refusal): string {
  return JSON.stringify({ error: sentence, message: sentence, code, fields, ...extra } satisfies Problem);
}

export function sendProblem(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { code, retryAfter, allow } = refusal;
  if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter));
  if (allow !== undefined) void reply.header('allow', allow.join(', '));
  const body = problemJson(refusal);
  void reply.code(PROBLEMS[code].status).header('cache-control', 'no-store').type('application/json; charset=utf-8');
  // The connection ends because the client asked for it, or because Fastify could not read the body.
  const isLast = !reply.raw.shouldKeepAlive || reply.hasHeader('connection');
  if (!isLast || reply.request.raw.complete) return reply.send(body);
  reply.raw.shouldKeepAlive = false;
  return reply
    .header('content-length', String(Buffer.byteLength(body)))
    .send(Readable.from(thenLinger(body, reply.request.raw)));
}

/** Responds at once, and ends the response when the client has stopped sending. */
async function* thenLinger(body: string, request: IncomingMessage): AsyncGenerator<string> {
  yield body;
  await new Promise<void>((resolve) => linger(request, resolve, request.socket));
}

/** The refusal for an error with a known cause; `undefined` for an unexpected one. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof ProblemError) return error.refusal;
  // The queue is full, or the client has left and reads no answer.
  if (error instanceof QueueFullError || error instanceof ConnectionClosed)
    return { code: 'UNAVAILABLE', retryAfter: RETRY_SECONDS };
  if (error instanceof StorageUnavailable)
    return { code: 'UNAVAILABLE', sentence: UNAVAILABLE[error.reason], retryAfter: RETRY_SECONDS };
  return codeOf(error) === NOT_JSON ? { code: 'UNSUPPORTED_MEDIA_TYPE' } : undefined;
}

/**
 * Converts anything that a handler threw into a response. An unexpected error becomes a 500 without details, and a log
 * line with its id.
 */
export function answerError(error: Error, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  if (error instanceof StorageUnavailable)
    log.error({ err: error, route: request.routeOptions.url }, 'storage did not answer a call');
  const refusal = refusalOf(error);
  if (refusal !== undefined) return sendProblem(reply, refusal);
  const errorId = randomUUID();
  log.error({ err: error, errorId, method: request.method, route: request.routeOptions.url }, 'a call failed');
  return sendProblem(reply, { code: 'INTERNAL', extra: { errorId } });
}
