import { tryDecode } from '@creel/contract';
import cookie from '@fastify/cookie';
import Fastify from 'fastify';
import type { AllFinders, AllHandlers } from './call.ts';
import type { FastifyInstance, FastifyRequest, FastifyServerFactory } from 'fastify';
import type { AppContext } from '../app-context.ts';
import { ProblemError, answerError, sendProblem, overloaded } from './problem.ts';
import { parseBody } from './json-body.ts';
import { registerOperations, replayBodyLimit } from './operations.ts';
import { registerSecurityHeaders } from './security-headers.ts';
import { registerPages } from './static-pages.ts';
import type { Registry } from 'prom-client';
import type { IncomingMessage } from 'node:http';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { SharedReads } from '../limits/shared-reads.ts';
import { readBody } from './read-body.ts';
import type { BodyResult } from './read-body.ts';

/** What the features provide. */
export interface Routes {
  readonly handlers: AllHandlers;
  readonly finders: AllFinders;
  /** Routes that are not operations of the contract. */
  readonly registerOthers: (server: FastifyInstance, app: AppContext) => void;
  /** The folder of the web app, which serves all other paths. */
  readonly webRoot: string;
}

/** Everything except the capture path and the live connections: the API, operational routes and pages. */
export async function createApiServer(
  app: AppContext,
  serverFactory: FastifyServerFactory,
  sources: OperationalSources,
  routes: Routes,
): Promise<FastifyInstance> {
  const server = Fastify({
    serverFactory,
    logger: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // Longer than any head. Otherwise the router would respond itself, without our headers.
    routerOptions: { maxParamLength: 100_000 },
    rewriteUrl: (request) => normalizeTarget(request.url),
    // The listener responds to invalid HTTP (listener.ts). Fastify's own handler would close the connection at once.
    clientErrorHandler: () => undefined,
    frameworkErrors: (_error, _request, reply) => sendProblem(reply, { code: 'NOT_FOUND' }),
  });
  server.setErrorHandler<Error>((error, request, reply) => answerError(error, request, reply, app.log));
  readJsonOnly(server, replayBodyLimit(app.config));
  await server.register(cookie);
  registerSecurityHeaders(server, app);
  registerOperations(server, app, routes);
  routes.registerOthers(server, app);
  registerOperationalRoutes(server, app, sources);
  await registerPages(server, app, routes.webRoot);
  return server;
}

/** Paths without a route: of the API, and of a page. */
const NOWHERE = '/api/nowhere';
const NO_PAGE = '/nowhere';

/**
 * Normalizes a request target, so that the router and `explainMissing` agree. Removes the authority of the absolute
 * form (RFC 9112 3.2.2) and decodes unreserved characters (RFC 3986 6.2.2.2). Targets that can't be decoded, or with an
 * empty path segment under the API, match no route.
 */
function normalizeTarget(target = '/'): string {
  const url = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');
  const queryAt = url.search(/[?#]|$/);
  const path = url
    .slice(0, queryAt)
    .replace(/%(?:2d|2e|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi, decodeURIComponent);
  if (tryDecode(() => decodeURIComponent(path)) === undefined) return /^\/api(?:\/|$)/.test(path) ? NOWHERE : NO_PAGE;
  return /^\/api\/(?:.*\/)?(?:\/|$)/.test(path) ? NOWHERE : path + url.slice(queryAt);
}

export interface OperationalSources {
  readonly metrics: Registry;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** Resolves when a capture can be stored now. */
  readonly checkReady: () => Promise<void>;
}

/** `/healthz`: the process runs. `/readyz`: it can store a capture. `/metrics`: Prometheus text. */
function registerOperationalRoutes(server: FastifyInstance, app: AppContext, sources: OperationalSources): void {
  server.get('/healthz', async (_request, reply) => reply.header('cache-control', 'no-store').send({ ok: true }));
  // A check commits, and captures wait for it. Making the metrics' text takes 2 ms. So concurrent calls share one.
  const checks = new SharedReads<'ready', void>();
  const texts = new SharedReads<'metrics', string>();
  server.get('/readyz', async (_request, reply) => {
    if (sources.stopping.aborted)
      return sendProblem(reply, { code: 'UNAVAILABLE', sentence: 'The server is stopping.', retryAfter: 5 });
    try {
      await checks.run('ready', sources.checkReady);
    } catch (error) {
      app.log.error({ err: error }, 'storage does not accept a write');
      return sendProblem(reply, {
        code: 'CAPTURE_UNAVAILABLE',
        sentence: 'The storage does not accept writes at the moment.',
        retryAfter: 5,
      });
    }
    return reply.header('cache-control', 'no-store').send({ ok: true });
  });
  // Only a handshake becomes a live connection, and this request isn't one. RFC 9110 15.5.22 requires the header.
  server.get('/ws', (_request, reply) =>
    sendProblem(reply.header('upgrade', 'websocket'), { code: 'UPGRADE_REQUIRED' }),
  );
  server.get('/metrics', async (_request, reply) => {
    const text = await texts.run('metrics', () => sources.metrics.metrics());
    return reply.type(sources.metrics.contentType).send(text);
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets the raw body, because a signature covers its bytes. */
    rawBody?: boolean;
  }
  interface FastifyRequest {
    /** See `parseBody`. */
    longText: Buffer | undefined;
  }
}

const MIB = 1024 * 1024;

/** Bytes that incoming bodies of API calls may hold, over all connections, and at least two of the largest. */
const CALL_BUDGET_BYTES = 64 * MIB;
/** Bytes per body that are not counted, so that ordinary calls such as a login always have memory. */
const UNCOUNTED_BYTES = 16 * 1024;

/**
 * Maximum number of chunks or reads of a body. A million chunks of one byte take half a second to parse. The largest
 * replay comes in 20,000 TCP segments.
 */
const MAX_PARTS = 65_536;

/** RFC 9110 15.5.16: 415 is also for content codings. */
const NO_CODING = 'Please send the body without a content coding such as gzip.';

/** Accepts only JSON. Counts bytes as they arrive: 413 beyond the limit, 503 when other bodies use up the memory. */
function readJsonOnly(server: FastifyInstance, largestBody: number): void {
  const bytes = Math.max(CALL_BUDGET_BYTES, 2 * largestBody);
  const budget = new MemoryBudget({ bytes, uncounted: UNCOUNTED_BYTES });
  server.removeAllContentTypeParsers();
  server.decorateRequest('longText', undefined);
  // Without a body its type does not matter.
  server.addHook('onRequest', async ({ headers }) => {
    if (Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined)
      delete headers['content-type'];
  });
  server.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { 'content-encoding': coding = 'identity' } = request.headers;
    if (coding.toLowerCase() !== 'identity') throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', { sentence: NO_CODING });
    const limit = request.routeOptions.bodyLimit;
    // A declared length beyond the limit is rejected before anything is read.
    if (Number(request.headers['content-length']) > limit) throw new ProblemError('BODY_TOO_LARGE');
    const reservation = budget.reserve(request.ip);
    const body = await new Promise<BodyResult>((resolve) =>
      readBody(payload, { bytes: limit, parts: MAX_PARTS }, reservation, resolve),
    );
    if (body === null) return undefined;
    if (typeof body === 'string') throw refusal(body);
    try {
      if (request.routeOptions.config.rawBody === true) return body;
      const { value, longText } = await parseBody(body);
      request.longText = longText;
      return value;
    } finally {
      reservation.release();
    }
  });
}

function refusal(result: Extract<BodyResult, string>): ProblemError {
  if (result === 'too-large') return new ProblemError('BODY_TOO_LARGE');
  if (result === 'too-many-parts')
    return new ProblemError('BODY_TOO_LARGE', { sentence: 'Please send the body in larger chunks.' });
  if (result === 'no-memory') return overloaded();
  // The client has left, so no response is read.
  return new ProblemError('BAD_REQUEST');
}
