import { OPERATIONS, statusOf } from '@creel/contract';
import type { Operation, OperationName } from '@creel/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AppContext } from '../app-context.ts';
import type { Config } from '../config.ts';
import { ProblemError, invalid, overloaded } from './problem.ts';
import type { EndpointRecord, LoggedIn } from '../database/records.ts';
import { closedSignal } from './call.ts';
import type { AllFinders, AllHandlers } from './call.ts';
import { LargeAnswer, sendLarge, MAX_JSON_GROWTH, SMALL_ANSWER_BYTES } from './large-answer.ts';
import { freeBuffer } from './body-buffer.ts';
import { API_BODY_LIMIT } from './json-body.ts';
import { changesState, isCrossOrigin } from './same-origin.ts';
import { readCookie, SESSION } from './cookies.ts';
import type { ServerResponse } from 'node:http';
import { FairQueue } from '../limits/fair-queue.ts';
import { MemoryBudget } from '../limits/memory-budget.ts';

/** The user id for responses to anonymous clients; no account has it. */
const NOBODY = 0;

/**
 * Creates a route for every operation of the contract. All check in the same order: origin, session, ownership, then
 * the body, so that another user's resource is always a 404.
 */
export function registerOperations(
  server: FastifyInstance,
  app: AppContext,
  { handlers, finders }: { readonly handlers: AllHandlers; readonly finders: AllFinders },
): void {
  const budgets = responseBudgets(app.config.maxBodyBytes);
  const lookups = new FairQueue({ concurrencyPerOwner: MAX_CALLS });
  const changes = new FairQueue({ concurrencyPerOwner: MAX_CALLS });
  const reads = new FairQueue({ concurrencyPerOwner: MAX_READS });
  const shared: Shared = { app, budgets, lookups, changes, reads };
  for (const name of (Object.keys(OPERATIONS) as OperationName[]).toSorted())
    registerOperation(server, shared, name, { handler: handlers[name], find: finders[name] });
}

/** Maximum bytes of a replay's body: a captured body and the JSON around it. */
export function replayBodyLimit({ maxBodyBytes }: Pick<Config, 'maxBodyBytes'>): number {
  return maxBodyBytes + API_BODY_LIMIT;
}

interface Shared {
  readonly app: AppContext;
  readonly budgets: ResponseBudgets;
  /** Lookups of callers and their endpoints, by session. */
  readonly lookups: FairQueue;
  /** Calls that change something, by user. Replays have a queue of their own. */
  readonly changes: FairQueue;
  /** Reads of stored requests, by user. */
  readonly reads: FairQueue;
}

/**
 * Lookups of one session at a time, and changes of one user, as many as the calls that a browser sends at once. Without a
 * limit, many calls would delay all users, also after they were given up, because storage answers in order.
 */
const MAX_CALLS = 6;
/** Reads of one user at a time. Storage answers in order, so the reads of calls that were given up would delay all users. */
const MAX_READS = 2;

function registerOperation(
  server: FastifyInstance,
  { app, budgets, lookups, changes, reads }: Shared,
  name: OperationName,
  { handler, find }: { readonly handler: AnyHandler; readonly find: AnyFinder | undefined },
): void {
  const operation: Operation = OPERATIONS[name];
  const isChange = operation.access !== 'public' && changesState(operation.method) && name !== 'replay';
  /** Callers whose input is not read yet. */
  const callers = new WeakMap<FastifyRequest, Awaited<ReturnType<typeof identify>>>();
  server.route({
    method: operation.method,
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    bodyLimit: operation.bodyLimit === 'replay' ? replayBodyLimit(app.config) : API_BODY_LIMIT,
    onRequest: async (request, reply) => {
      const session = readCookie(request, SESSION, app.publicUrl()) ?? '';
      const caller = await lookups.run(session, () => identify(app, operation, request), closedSignal(reply));
      callers.set(request, caller);
      if (app.config.billing === 'off' && operation.problems?.includes('BILLING_OFF'))
        throw new ProblemError('BILLING_OFF');
    },
    config: { rawBody: isBillingEvent(operation) },
    // Input that can't be read or is not valid.
    errorHandler: async (problem, request) => {
      const caller = callers.get(request);
      if (caller !== undefined) await find?.({ ...caller, sent: request.body } as never);
      throw problem;
    },
    handler: async (request, reply) => {
      const input = readInput(app, operation, request);
      const caller = callers.get(request);
      callers.delete(request);
      const userId = caller?.loggedIn?.user.id ?? NOBODY;
      const { handlerDone, ...memory } = responseMemory(budgets, userId, reply.raw);
      const readInTurn = <T>(read: () => Promise<T>): Promise<T> => reads.run(userId, read, closedSignal(reply));
      const call = { ...caller, ...input, request, reply, ...memory, readInTurn };
      const { longText } = input;
      // Without this, V8 frees it late, because large bodies are few objects.
      if (longText !== undefined) memory.whenDone(() => freeBuffer(longText.buffer));
      // Frees the unparsed body, however long the call takes.
      request.body = undefined;
      request.longText = undefined;
      const run = () => handler(call as never);
      const handled = isChange ? changes.run(userId, run, closedSignal(reply)) : run();
      return send(operation, reply, await handled.finally(handlerDone));
    },
  });
}

/** Sends what the handler returned, unless it has sent a response. */
function send(operation: Operation, reply: FastifyReply, answer: unknown): FastifyReply {
  if (reply.sent) return reply;
  void reply.code(statusOf(operation));
  if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
  if (operation.answer === undefined) return reply.send();
  if (operation.answer !== 'bytes') void reply.type('application/json; charset=utf-8');
  return answer instanceof LargeAnswer ? sendLarge(reply, answer) : reply.send(JSON.stringify(answer));
}

/** `never`: the compiler can't see that schema and handler belong together. `AllHandlers` guarantees it. */
type AnyHandler = (call: never) => Promise<unknown>;
type AnyFinder = (call: never) => Promise<void>;

/** Authenticates the caller and checks that the endpoint in the path or query is theirs. */
async function identify(app: AppContext, operation: Operation, request: FastifyRequest) {
  const publicUrl = app.publicUrl();
  if (changesState(request.method) && !isBillingEvent(operation) && isCrossOrigin(request.headers, publicUrl))
    throw new ProblemError('CROSS_ORIGIN');
  const params = pathParameters(request);
  if (operation.access === 'public') return { app, params, loggedIn: undefined, endpoint: undefined };
  const loggedIn = await authenticate(app, request);
  const uid = params.uid ?? endpointInQuery(operation, request);
  const endpoint = uid === undefined ? undefined : await findOwnEndpoint(app, loggedIn, uid);
  return { app, params, loggedIn, endpoint };
}

/** The user of the session cookie. @throws ProblemError NOT_SIGNED_IN */
export async function authenticate(app: AppContext, request: Pick<FastifyRequest, 'cookies'>): Promise<LoggedIn> {
  const token = readCookie(request, SESSION, app.publicUrl());
  const loggedIn = token === undefined ? undefined : await app.accounts.sessions.find(token);
  if (loggedIn === undefined) throw new ProblemError('NOT_SIGNED_IN');
  return loggedIn;
}

/** An endpoint of the user. @throws ProblemError ENDPOINT_NOT_FOUND, also for another user's */
export async function findOwnEndpoint(app: AppContext, { user }: LoggedIn, uid: string): Promise<EndpointRecord> {
  const endpoint = await app.store.findEndpoint(uid);
  if (endpoint?.userId !== user.id) throw new ProblemError('ENDPOINT_NOT_FOUND');
  return endpoint;
}

function endpointInQuery({ query: schema }: Operation, { query }: FastifyRequest): string | undefined {
  if (schema === undefined || !Object.hasOwn(schema.shape, 'endpoint')) return undefined;
  return z.object({ endpoint: z.string() }).safeParse(query).data?.endpoint;
}

/** The payment provider's events are authenticated by signature, not by origin. */
function isBillingEvent(operation: Operation): boolean {
  return operation.path === OPERATIONS.receiveBillingEvent.path;
}

function pathParameters(request: FastifyRequest): Record<string, string | undefined> {
  const { params } = request;
  return typeof params === 'object' && params !== null ? { ...params } : {};
}

/** The client's part of a call. @throws ProblemError VALIDATION_FAILED */
function readInput(app: AppContext, { query, body }: Operation, request: FastifyRequest) {
  return {
    query: query === undefined ? undefined : parseInput(query, request.query),
    body: body === undefined ? undefined : parseInput(body, request.body),
    rawBody: Buffer.isBuffer(request.body) ? request.body : undefined,
    longText: request.longText,
    clientAddress: app.clientAddressOf(request.raw),
  };
}

const NOT_AN_OBJECT = 'Please send a JSON object with the fields of this call.';

/** Parses external input. @throws ProblemError VALIDATION_FAILED with a sentence for each invalid field */
function parseInput(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) {
    const field = issue.path.length === 0 ? 'body' : issue.path.join('.');
    fields[field] ??= issue.path.length === 0 && issue.code === 'invalid_type' ? NOT_AN_OBJECT : issue.message;
  }
  throw invalid(fields);
}

const MIB = 1024 * 1024;

/**
 * Bytes that responses in progress may hold, over all connections, and at least four of the largest bodies. Small
 * responses have a budget of the same size, so that large ones never block lists and ordinary requests.
 */
const ANSWER_BUDGET_BYTES = 128 * MIB;
/** One user's maximum share of what the others leave of either budget. */
const MAX_SHARE = 1 / 2;

/** Memory of a response with this many stored bytes: the bytes, and the text that is generated ahead of its reader. */
function memoryOf(rawBytes: number): number {
  return rawBytes + MAX_JSON_GROWTH * Math.min(rawBytes, SMALL_ANSWER_BYTES);
}

type ResponseBudgets = ReturnType<typeof responseBudgets>;

/** Memory for the small and the large responses of a server with bodies of at most `maxBodyBytes`. */
function responseBudgets(maxBodyBytes: number) {
  const fourAnswers = 4 * (maxBodyBytes + 2 * MAX_JSON_GROWTH * SMALL_ANSWER_BYTES);
  const newBudget = (bytes: number): MemoryBudget => new MemoryBudget({ bytes, maxShare: MAX_SHARE });
  return { small: newBudget(ANSWER_BUDGET_BYTES), large: newBudget(Math.max(ANSWER_BUDGET_BYTES, fourAnswers)) };
}

/** The memory of one response, from before its data is read until it has ended or its connection is closed. */
function responseMemory({ small, large }: ResponseBudgets, userId: number, response: ServerResponse) {
  const onEnd: (() => void)[] = [];
  let isHandlerDone = false;
  const releaseIfOver = (): void => {
    if (isHandlerDone && response.destroyed) for (const release of onEnd.splice(0)) release();
  };
  // Also follows the end of the connection, because a connection has one response at a time (parsed-connection.ts).
  response.once('close', releaseIfOver);
  return {
    /** @throws ProblemError UNAVAILABLE when there is no memory for these stored bytes, or the client has left */
    reserve: (rawBytes: number): void => {
      const reservation = (rawBytes <= SMALL_ANSWER_BYTES ? small : large).reserve(userId);
      if (response.destroyed || !reservation.grow(memoryOf(rawBytes))) throw overloaded();
      onEnd.push(() => reservation.release());
    },
    /** Calls back when the response has ended, immediately if it already has. */
    whenDone: (done: () => void): void => {
      onEnd.push(done);
      releaseIfOver();
    },
    /** The handler has finished. Until then its reads use memory even if the client has left. */
    handlerDone: (): void => {
      isHandlerDone = true;
      releaseIfOver();
    },
  };
}
