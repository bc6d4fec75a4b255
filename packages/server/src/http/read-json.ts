import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { readBody } from './read-body.ts';
import type { BodyResult } from './read-body.ts';
import { ProblemError, overloaded } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets the raw body, because a signature covers its bytes. */
    rawBody?: boolean;
  }
}

const MIB = 1024 * 1024;

/** Bytes that incoming bodies of API calls may hold, over all connections, and at least two of the largest. */
const CALL_BUDGET_BYTES = 64 * MIB;
/** Bytes per body that are not counted, so that ordinary calls such as a login always have memory. */
const UNCOUNTED_BYTES = 16 * 1024;

/** A budget for calls with bodies of at most `largestBody` bytes. */
export function callBudget(largestBody: number): MemoryBudget {
  return new MemoryBudget({ bytes: Math.max(CALL_BUDGET_BYTES, 2 * largestBody), uncounted: UNCOUNTED_BYTES });
}

/**
 * Accepts only JSON. The bytes of a body are counted as they arrive: beyond the call's limit the response is 413, and
 * 503 when other bodies use up the memory.
 */
export function readJsonOnly(server: FastifyInstance, budget: MemoryBudget): void {
  server.removeAllContentTypeParsers();
  // Without a body its type does not matter.
  server.addHook('onRequest', async ({ headers }) => {
    if (Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined)
      delete headers['content-type'];
  });
  server.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const limit = request.routeOptions.bodyLimit;
    // A declared length beyond the limit is rejected before anything is read.
    if (Number(request.headers['content-length']) > limit) throw new ProblemError('BODY_TOO_LARGE');
    const reservation = budget.reserve(request.ip);
    const body = await new Promise<BodyResult>((resolve) => readBody(payload, limit, reservation, resolve));
    if (body === null) return undefined;
    if (typeof body === 'string') throw refusal(body);
    try {
      return request.routeOptions.config.rawBody === true ? body : parseJson(body);
    } finally {
      reservation.release();
    }
  });
}

function refusal(result: Extract<BodyResult, string>): ProblemError {
  if (result === 'too-large') return new ProblemError('BODY_TOO_LARGE');
  if (result === 'no-room') return overloaded();
  // The client has left, so no response is read.
  return new ProblemError('BAD_REQUEST');
}

/**
 * JSON is UTF-8 (RFC 8259 8.1). A lenient decoder would turn invalid bytes into U+FFFD and make different passwords
 * equal.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new ProblemError('MALFORMED_JSON');
  }
}
