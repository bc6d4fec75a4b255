import { ApiError, createClient, OPERATIONS } from '@creel/contract';
import type { OperationName } from '@creel/contract';
import { askToSignIn, noteReachable, noteSignedOut } from './connection.ts';

/** Calls whose 401 is an answer, not the end of a session. */
const ASKS_WHO: ReadonlySet<OperationName> = new Set(['getUser', 'login', 'register', 'googleLogin']);

async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const answer = await fetch(input, init);
    noteReachable(true);
    return answer;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) noteReachable(false);
    throw error;
  }
}

/** Failed calls are logged to the console (spec 7); nobody being signed in is no failure. */
function onError(name: OperationName, error: ApiError): void {
  if (name === 'getUser' && error.status === 401) return;
  // oxlint-disable-next-line no-console -- spec 7: failed calls are logged there
  console.error(`${name}: ${error.message}`);
  if (!isEndOfSession(error) || ASKS_WHO.has(name)) return;
  // What is asked for in the background does not interrupt again somebody who went on without signing in.
  if (OPERATIONS[name].method === 'GET') noteSignedOut();
  else askToSignIn();
}

/** True when a call failed because nobody is signed in any more. A dialog of its own says so, and takes the sign-in. */
export function isEndOfSession(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code === 'NOT_SIGNED_IN';
}

/** The web app's one way to the API. */
export const client = createClient({ fetch: watchedFetch, onError });

/** Whether the server can be reached now. */
export const isServerReachable = (): Promise<boolean> =>
  client.call('getServiceInfo', {}).then(
    () => true,
    () => false,
  );

/** The server's sentence where it gave one, else what the page says. */
export function sentenceOf(error: unknown, fallback: string): string {
  return error instanceof ApiError && error.sentence !== '' ? error.sentence : fallback;
}
