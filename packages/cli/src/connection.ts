import { ApiError, createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { z } from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { CliError, UsageError } from './cli-error.ts';
import { cookieHeader, readSession, storeCookies } from './session.ts';
import type { Cookies, StoredSession } from './session.ts';
import type { Terminal } from './terminal.ts';

export const VERSION: string = manifest.version;

/** A server's origin. A path is an error, because the pages and the API are at the root of a server. */
export const serverOriginSchema = z
  .string()
  .refine(isServerUrl, 'must be an http or https URL without a path, such as https://hooks.example.com.')
  .transform((text) => new URL(text).origin);

function isServerUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
}

/** @throws UsageError that begins with `subject` */
export function parseServerOrigin(text: string, subject: string): string {
  const origin = serverOriginSchema.safeParse(text);
  if (origin.success) return origin.data;
  throw new UsageError(`${subject} ${origin.error.issues[0]?.message}`);
}

/** The value of `--server`, else the origin in `CREEL_URL`. @throws UsageError */
export function chooseServer(option: string | undefined, env: Terminal['env']): string | undefined {
  const variable = env['CREEL_URL'] ?? '';
  return option ?? (variable === '' ? undefined : parseServerOrigin(variable, 'CREEL_URL'));
}

/** The contract's client for one server, with the session's cookies. */
export interface Connection {
  readonly server: string;
  readonly client: Client;
  /** The session with its current cookies. */
  readonly session: () => StoredSession;
  /** Headers of calls and sockets, without `Origin` and `Sec-Fetch-Site`: only browsers send those. */
  readonly headers: () => Record<string, string>;
  /** The server's clock in milliseconds, exact to a second, from its `Date` headers. */
  readonly now: () => number;
}

/** Connects to the server of the stored session. @throws CliError without a session, or when the user asks for another server */
export async function openSession(option: string | undefined, terminal: Terminal): Promise<Connection> {
  const server = chooseServer(option, terminal.env);
  const session = await readSession(terminal.env);
  if (session === undefined) throw new CliError('You are not logged in. Log in with: creel login');
  if (server !== undefined && server !== session.server)
    throw new CliError(`You are logged in at ${session.server}. Log in with: creel login --server ${server}`);
  return connect(session);
}

/** Limit for silence before a response and in it. The server itself waits up to 30 s for the destination of a replay. */
const MAX_ANSWER_MS = 60_000;

/** A connection with the cookies of a session. It keeps the cookies that the server sets. */
export function connect({ server, cookies: initial }: StoredSession, maxAnswerMs = MAX_ANSWER_MS): Connection {
  let cookies: Cookies = initial;
  let clockOffset = 0;
  let failure: unknown;
  let location: string | undefined;

  const headers = (): Record<string, string> => {
    const cookie = cookieHeader(cookies);
    return { 'user-agent': `creel/${VERSION}`, ...(cookie === '' ? {} : { cookie }) };
  };

  const fetchWithCookies: typeof fetch = async (input, init) => {
    const tooLong = new AbortController();
    // `fetch` also gives the reason of a failure as its cause. Messages of its own errors can contain cookies.
    const reason = new Error('fetch failed', { cause: new Error(`no answer within ${maxAnswerMs / 1000} s`) });
    const timer = setTimeout(() => tooLong.abort(reason), maxAnswerMs).unref();
    const signal = AbortSignal.any([tooLong.signal, ...(init?.signal ? [init.signal] : [])]);
    // No redirects: cookies and passwords are for this server only.
    const fail = (error: unknown): never => {
      clearTimeout(timer);
      failure = error;
      throw error;
    };
    const response = await fetch(input, { ...init, redirect: 'manual', signal }).catch(fail);
    cookies = storeCookies(cookies, response.headers.getSetCookie(), server);
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) clockOffset = date - Date.now();
    location = response.headers.get('location') ?? undefined;
    const body = response.body && ReadableStream.from(watchedParts(response.body, timer, fail));
    return new Response(body, response);
  };

  const explain = (error: unknown): never => {
    throw error instanceof ApiError ? terminalError(error, server, { failure, location }) : error;
  };

  const client = createClient({ baseUrl: server, fetch: fetchWithCookies, headers });
  return {
    server,
    headers,
    session: () => ({ server, cookies }),
    now: () => Date.now() + clockOffset,
    client: {
      call: (name, input, signal) => client.call(name, input, signal).catch(explain),
      callWithHeaders: (name, input, signal) => client.callWithHeaders(name, input, signal).catch(explain),
    },
  };
}

/** The parts of a body. Each restarts the timer. */
async function* watchedParts(
  body: AsyncIterable<Uint8Array>,
  timer: NodeJS.Timeout,
  fail: (error: unknown) => never,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const part of body) {
      timer.refresh();
      yield part;
    }
    clearTimeout(timer);
  } catch (error) {
    fail(error);
  }
}

/** Replaces the client's sentences, which are for a web page. */
function terminalError(
  error: ApiError,
  server: string,
  { failure, location }: { failure: unknown; location: string | undefined },
): ApiError {
  if (error.status === 0) return new ApiError(0, `${server} could not be reached${failureReason(failure)}.`);
  if (error.code === 'BAD_ANSWER') {
    const sentence = `${server} gave an answer that this version of creel does not understand.`;
    return new ApiError(error.status, sentence, { code: error.code });
  }
  // `errorLines` has the sentence.
  if (error.status < 300 && error.code === undefined) return new ApiError(error.status, '');
  if (error.status >= 300 && error.status < 400 && location !== undefined && URL.canParse(location, server))
    return new ApiError(error.status, `${server} redirects to ${new URL(location, server).origin}. Use that URL.`);
  return error;
}

/** Codes of a connection that ended before or in a response. The first is of `fetch`, the second of the system. */
const CUT_OFF = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

/** The cause of a failed `fetch`; the first one if it tried several addresses. */
function failureReason(failure: unknown): string {
  const cause = failure instanceof Error ? failure.cause : undefined;
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof Error)) return '';
  // The error for a response that is not HTTP has the code `undefined`.
  const code = 'code' in first && typeof first.code === 'string' ? first.code : undefined;
  if (code !== undefined && CUT_OFF.has(code)) return ' (the connection was closed before the end of the response)';
  return ` (${code ?? first.message})`;
}
