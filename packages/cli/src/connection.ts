import { ApiError, createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { CliProblem } from './cli-problem.ts';
import { cookieHeader, takeCookies } from './cookies.ts';
import type { Cookies } from './cookies.ts';
import { chosenServer } from './server-url.ts';
import { readSession } from './session-file.ts';
import type { StoredSession } from './session-file.ts';
import type { Terminal } from './terminal.ts';
import { VERSION } from './version.ts';

/** A server as this command speaks with it: the contract's client, and what stands beside it. */
export interface Connection {
  readonly server: string;
  readonly client: Client;
  /** The cookies as they are by now. */
  readonly session: () => StoredSession;
  /** What calls and sockets carry. Neither `Origin` nor `Sec-Fetch-Site`: programs send neither (contract 1). */
  readonly headers: () => Record<string, string>;
  /** The server's clock in milliseconds, as its `Date` headers tell it; to a second. */
  readonly now: () => number;
}

/** The server where the person is signed in. @throws CliProblem when that is none, or not the one that was asked for */
export async function signedInConnection(option: string | undefined, terminal: Terminal): Promise<Connection> {
  const asked = chosenServer(option, terminal.env);
  const session = await readSession(terminal.env);
  if (session === undefined) throw new CliProblem('You are not signed in. Sign in with: creel login');
  if (asked !== undefined && asked !== session.server)
    throw new CliProblem(`You are signed in at ${session.server}. Sign in with: creel login --server ${asked}`);
  return connect(session);
}

export function connect({ server, cookies: first }: StoredSession): Connection {
  let cookies: Cookies = first;
  let ahead = 0;
  let failure: unknown;
  let movedTo: string | undefined;

  const headers = (): Record<string, string> => {
    const cookie = cookieHeader(cookies);
    return { 'user-agent': `creel/${VERSION}`, ...(cookie === '' ? {} : { cookie }) };
  };

  const fetchWithCookies: typeof fetch = async (input, init) => {
    // Followed by hand or not at all: cookies and passwords are for this server alone.
    const answer = await fetch(input, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      failure = error;
      throw error;
    });
    cookies = takeCookies(cookies, answer.headers.getSetCookie(), server);
    const date = Date.parse(answer.headers.get('date') ?? '');
    if (!Number.isNaN(date)) ahead = date - Date.now();
    movedTo = answer.headers.get('location') ?? undefined;
    return answer;
  };

  const explain = (error: unknown): never => {
    throw error instanceof ApiError ? explained(error, server, { failure, movedTo }) : error;
  };

  const client = createClient({ baseUrl: server, fetch: fetchWithCookies, headers });
  return {
    server,
    headers,
    session: () => ({ server, cookies }),
    now: () => Date.now() + ahead,
    client: {
      call: (name, input, signal) => client.call(name, input, signal).catch(explain),
      callWithHeaders: (name, input, signal) => client.callWithHeaders(name, input, signal).catch(explain),
    },
  };
}

/** The client's own sentences are for a page; these are for a terminal. */
function explained(error: ApiError, server: string, seen: { failure: unknown; movedTo: string | undefined }): ApiError {
  if (error.status === 0) return new ApiError(0, `${server} could not be reached${reasonOf(seen.failure)}.`);
  if (error.code === 'BAD_ANSWER')
    return new ApiError(error.status, `${server} gave an answer that this version of creel does not understand.`);
  const { movedTo } = seen;
  if (error.status >= 300 && error.status < 400 && movedTo !== undefined && URL.canParse(movedTo, server))
    return new ApiError(error.status, `${server} sends calls on to ${new URL(movedTo, server).origin}. Use that.`);
  return error;
}

/** What the network said: `fetch` keeps it as the cause of its own error, and what was tried at several addresses inside that. */
function reasonOf(failure: unknown): string {
  const cause = failure instanceof Error ? failure.cause : undefined;
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof Error)) return '';
  return ` (${'code' in first ? String(first.code) : first.message})`;
}
