import { ApiError, createClient, isEndOfSession, isPage, OPERATIONS, TEST_REQUEST_HEADER } from '@creel/contract';
import type { OperationName } from '@creel/contract';
import { noteServerTime } from '../ui/state.ts';
import { toastError } from '../ui/toast-store.ts';
import type { ErrorToastOptions } from '../ui/toast-store.ts';
import { isSignedOut, openLoginDialog, markSessionEnded } from './session.ts';
import { isOutage, isOutageStatus, serverState } from './server-state.ts';

/** For these calls a 401 is a regular answer, not the end of a session. */
const MAY_ANSWER_401: ReadonlySet<OperationName> = new Set(['getUser', 'login', 'register', 'googleLogin']);

/** The server takes up to 60 s for a request and 30 s for its response. The browser would wait for many minutes. */
const MAX_ANSWER_MS = 100_000;

/** `fetch` that limits the time until the response begins, and notes whether the server could be reached. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(new DOMException('No answer', 'TimeoutError')), MAX_ANSWER_MS);
  const signal = init?.signal ? AbortSignal.any([init.signal, tooLong.signal]) : tooLong.signal;
  try {
    const answer = await fetch(input, { ...init, signal });
    if (!isOutageStatus(answer.status)) serverState.set(isPage(answer) ? 'unreachable' : 'up');
    noteServerTime(Date.parse(answer.headers.get('date') ?? ''));
    return answer;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) serverState.set('unreachable');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Logs failed calls to the console. A 401 for the current user only means that nobody is logged in. */
function onError(name: OperationName, error: ApiError): void {
  if (name === 'getUser' && error.status === 401) return;
  // oxlint-disable-next-line no-console -- failed calls are logged to the console
  console.error(`${name}: ${error.message}`);
  if (!isEndOfSession(error) || MAY_ANSWER_401.has(name)) return;
  // A failed background read must not open the login dialog again after the user has dismissed it.
  if (OPERATIONS[name].method === 'GET') markSessionEnded();
  else openLoginDialog();
}

/** The typed API client. Every call of the web app uses it. */
export const client = createClient({
  fetch: watchedFetch,
  onError,
  // The lists have the beginning of each body, so the answer to a save does not need the rest.
  headers: () => ({ prefer: 'return=minimal' }),
});

/** The server's message if it sent one, else the fallback. */
export function errorMessage(error: unknown, fallback: string): string {
  return error instanceof ApiError && error.sentence !== '' ? error.sentence : fallback;
}

interface FailedQuery {
  readonly error: unknown;
  readonly refetch: () => unknown;
}

/** What a failed query shows, and its button to try again. After the end of the session, only a login helps. */
export const failureOf = ({ error, refetch }: FailedQuery, fallback = 'Please try again.') => ({
  children: errorMessage(error, fallback),
  onRetry: (): void => (isSignedOut() ? openLoginDialog() : void refetch()),
});

/** Like `errorMessage`. Without a response it says first what failed, and then that the server could not be reached. */
export function namedError(error: unknown, fallback: string): string {
  const message = errorMessage(error, fallback);
  return error instanceof ApiError && error.status === 0 ? `${fallback}. ${message}` : message;
}

/** True if a call failed because it names something that is not stored. */
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** True if a call failed because its endpoint is not stored. */
export const isEndpointDeleted = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'ENDPOINT_NOT_FOUND';

/** True if all further calls of a bulk action would fail, too: without a session, the server or the endpoint. */
export const failsForAll = (error: unknown): boolean =>
  isEndOfSession(error) ||
  isEndpointDeleted(error) ||
  isOutage(error) ||
  (error instanceof ApiError && error.status === 0);

/**
 * Says that a call of the user failed, except at the end of the session, which the login dialog reports. Returns a
 * function that closes the toast.
 */
export function toastFailure(error: unknown, description: string, options?: ErrorToastOptions): () => void {
  return isEndOfSession(error) ? () => undefined : toastError(description, options);
}

/** Sends a request to a capture URL as a third party would, without cookies. */
export async function sendTestRequest(captureUrl: string): Promise<void> {
  // The page may be open under another host than the public one. The path is the same on both.
  const answer = await fetch(new URL(captureUrl).pathname, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json', [TEST_REQUEST_HEADER]: '1' },
    body: JSON.stringify({ event: 'test.request', message: 'Hello from Creel', sentAt: new Date().toISOString() }),
  });
  if (!answer.ok) throw new Error(`${answer.status}`);
}
