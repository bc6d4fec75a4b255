import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { MemoryBudget } from '../limits/memory-budget.ts';
import type { Reservation } from '../limits/memory-budget.ts';
import { readBody } from './read-body.ts';
import type { BodyResult } from './read-body.ts';
import { ProblemError, noRoom } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is handed over as it came, because a signature covers its bytes. */
    rawBody?: boolean;
  }
}

const MIB = 1024 * 1024;

/** Bytes that bodies of API calls may hold while they come in, over all connections; never less than two of the largest. */
const CALL_BUDGET_BYTES = 64 * MIB;
/** What a body may hold uncounted: an ordinary call, a sign-in above all, has room whatever others send. */
const UNCOUNTED_BYTES = 16 * 1024;

/** A budget for calls with bodies of at most `largestBody` bytes. */
export function callBudget(largestBody: number): MemoryBudget {
  return new MemoryBudget({ bytes: Math.max(CALL_BUDGET_BYTES, 2 * largestBody) });
}

/**
 * JSON and nothing else; a body that is not JSON is told so by the contract's own sentence. Its bytes are counted as they come: over a
 * call's own limit the answer is 413, where other bodies fill the memory that there is 503 (contract 1).
 */
export function readJsonOnly(server: FastifyInstance, budget: MemoryBudget): void {
  server.removeAllContentTypeParsers();
  // The type of no body does not matter.
  server.addHook('onRequest', async ({ headers }) => {
    if (Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined)
      delete headers['content-type'];
  });
  server.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const limit = request.routeOptions.bodyLimit;
    // A declared length over the limit is refused before anything is read.
    if (Number(request.headers['content-length']) > limit) throw new ProblemError('BODY_TOO_LARGE');
    const reservation = beyond(UNCOUNTED_BYTES, budget.reserve(request.ip));
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

/** A reservation of which the first bytes are free. */
function beyond(free: number, reservation: Reservation): Pick<Reservation, 'grow' | 'release'> {
  let size = 0;
  return {
    grow(bytes) {
      size += bytes;
      const more = size - free - reservation.bytes;
      return more <= 0 || reservation.grow(more);
    },
    release: () => reservation.release(),
  };
}

function refusal(result: Extract<BodyResult, string>): ProblemError {
  if (result === 'too-large') return new ProblemError('BODY_TOO_LARGE');
  if (result === 'no-room') return noRoom();
  // Nobody is left to hear it.
  return new ProblemError('BAD_REQUEST');
}

/** JSON is UTF-8 (RFC 8259 8.1). What is not would come out as U+FFFD, and two passwords that differ as one. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new ProblemError('MALFORMED_JSON');
  }
}
