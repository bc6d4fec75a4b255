import type {
  OPERATIONS,
  OperationAnswer,
  OperationName,
  ParsedBody,
  ParsedQuery,
  PathParameters,
} from '@creel/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { AppContext } from '../app-context.ts';
import type { EndpointRecord, LoggedIn } from '../database/records.ts';
import type { LargeAnswer } from './large-answer.ts';
import { ConnectionClosed, overloaded } from './problem.ts';

type Table = typeof OPERATIONS;
type LoggedInOf<Name extends OperationName> = Table[Name] extends { access: 'public' } ? undefined : LoggedIn;
type EndpointOf<Name extends OperationName> =
  'uid' extends PathParameters<Table[Name]['path']>
    ? EndpointRecord
    : 'endpoint' extends keyof ParsedQuery<Name>
      ? EndpointRecord | undefined
      : undefined;

/** A call as its handler receives it: authenticated, authorized and parsed. */
export interface Call<Name extends OperationName> {
  readonly app: AppContext;
  readonly params: Readonly<Record<PathParameters<Table[Name]['path']>, string>>;
  readonly query: ParsedQuery<Name>;
  readonly body: ParsedBody<Name>;
  /** The raw body of a signed call; `undefined` for all others. */
  readonly rawBody: Buffer | undefined;
  /** See `parseBody`. `bytesOf` returns its bytes. */
  readonly longText: Buffer | undefined;
  /** The caller; `undefined` for public calls, which authenticate themselves if needed. */
  readonly loggedIn: LoggedInOf<Name>;
  /** The caller's own endpoint, for a path with `{uid}` or a query with `endpoint`. */
  readonly endpoint: EndpointOf<Name>;
  /** The peer's address, or the client's as reported by a trusted proxy. */
  readonly clientAddress: string;
  /**
   * Reserves memory for stored bytes of the response, ideally before they are read. @throws ProblemError UNAVAILABLE
   * when other responses use up the memory
   */
  readonly reserve: (rawBytes: number) => void;
  /** Reads stored requests when it is the user's turn. @throws ConnectionClosed when no client waits any more */
  readonly readInTurn: <T>(read: () => Promise<T>) => Promise<T>;
  /** Calls back when the response has ended in any way and its memory is free. */
  readonly whenDone: (done: () => void) => void;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Executes the call and returns the response's body. @throws ProblemError for every error that the caller sees */
type Handler<Name extends OperationName> = (call: Call<Name>) => Promise<OperationAnswer<Name> | LargeAnswer>;

export type Handlers = { readonly [Name in OperationName]?: Handler<Name> };

/** A call whose input is not valid. `sent` is the body as it arrived. */
type InvalidCall<Name extends OperationName> = Pick<Call<Name>, 'app' | 'params' | 'loggedIn' | 'endpoint'> & {
  readonly sent: unknown;
};

type Finder<Name extends OperationName> = (call: InvalidCall<Name>) => Promise<void>;

/**
 * Look up what a call names besides its endpoint, if its input is not valid. Another user's resource is a 404 before a
 * mistake in the input is a 400. @throws ProblemError with a 404
 */
export type Finders = { readonly [Name in OperationName]?: Finder<Name> };

/** Operations whose path names more than an endpoint, and whose input can be wrong: a query, or the body of a change. */
type NamesWithFinder = {
  [Name in OperationName]: [Exclude<PathParameters<Table[Name]['path']>, 'uid'>] extends [never]
    ? never
    : Table[Name] extends { readonly method: 'GET'; readonly query?: never }
      ? never
      : Name;
}[OperationName];

/** A finder for every operation that needs one. */
export type AllFinders = Finders & { readonly [Name in NamesWithFinder]: Finder<Name> };

/** A handler for every operation of the contract. */
export type AllHandlers = Required<Handlers>;

/** Sets the link to the next page: the same call with a changed query (RFC 8288). */
export function setNextPage(reply: FastifyReply, changes: Readonly<Record<string, string | number>>): void {
  const url = new URL(reply.request.url, 'http://origin.invalid');
  for (const [name, value] of Object.entries(changes)) url.searchParams.set(name, String(value));
  void reply.header('link', `<${url.pathname}${url.search}>; rel="next"`);
}

/** The signal of each response, because several parts of a call wait for its end. */
const closedSignals = new WeakMap<ServerResponse, AbortSignal>();

/** Milliseconds between checks whether a client that closed its sending side still waits. */
const PROBE_MS = 250;

/**
 * A signal that aborts when the response has ended or the connection is closed, because no client waits then. It also
 * aborts when the call has had no response for the silence that ends a connection, and work in a queue then rejects with
 * a 503.
 */
export function closedSignal({ raw: response, request }: FastifyReply): AbortSignal {
  const known = closedSignals.get(response);
  if (known !== undefined) return known;
  const closed = new AbortController();
  const { socket, httpVersion } = request.raw;
  let probes: NodeJS.Timeout | undefined;
  // After a client closed its sending side, only writing shows whether it still reads. A closed connection rejects
  // `102 Processing`, and a waiting client ignores it (RFC 9110, section 15.2).
  const startProbing = (): void => {
    // Clients of HTTP/1.0 know no interim responses.
    if (httpVersion !== '1.0') probes = setInterval(() => response.headersSent || response.writeProcessing(), PROBE_MS);
  };
  const end = (reason: Error): void => {
    socket.off('end', startProbing);
    clearInterval(probes);
    closed.abort(reason);
  };
  if (response.destroyed) return AbortSignal.abort(new ConnectionClosed());
  response.once('close', () => end(new ConnectionClosed()));
  // Without this listener Node would close the connection of a call that waits. A client that reads nothing is cut off.
  response.on('timeout', () => (response.headersSent ? socket.destroy() : end(overloaded())));
  if (socket.readableEnded) startProbing();
  else socket.once('end', startProbing);
  closedSignals.set(response, closed.signal);
  return closed.signal;
}

/**
 * A signal that aborts as soon as the client closes its sending side, as a browser does when it gives up. For calls
 * that send a request to another server, because that request must end then. All other calls use `closedSignal`,
 * because the client may still wait.
 */
export function hangUpSignal({ raw: response, request }: FastifyReply): AbortSignal {
  const left = new AbortController();
  const { socket } = request.raw;
  const abort = (): void => left.abort(new ConnectionClosed());
  socket.once('end', abort);
  response.once('close', () => {
    socket.off('end', abort);
    abort();
  });
  return left.signal;
}
