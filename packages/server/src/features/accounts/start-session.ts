import type { OperationName } from '@creel/contract';
import type { Visitor } from './login.ts';
import { closedSignal } from '../../http/closed-signal.ts';
import { ProblemError } from '../../http/problem.ts';
import type { UserRecord } from '../../database/store.ts';
import type { Call } from '../../http/call.ts';
import { KNOWN_BROWSER, SESSION, readCookie, setCookie } from '../../http/cookies.ts';

type AnyCall = Pick<Call<OperationName>, 'app' | 'request' | 'reply' | 'clientAddress'>;

/** The caller, before authentication. */
export function visitorOf({ app, request, clientAddress }: AnyCall): Visitor {
  const knownBrowser = readCookie(request, KNOWN_BROWSER, app.publicUrl());
  return { address: clientAddress, knownBrowser, signal: closedSignal(request.raw.socket) };
}

/**
 * Starts a session for a user who has just been authenticated. Ends an older session of the same browser, because its
 * token may have been planted. @throws ProblemError INVALID_CREDENTIALS when the password was changed meanwhile
 */
export async function startSession(call: AnyCall, user: UserRecord): Promise<void> {
  const { app, request, reply, clientAddress } = call;
  await endSession(call);
  const token = await app.sessions.start(user, { userAgent: request.headers['user-agent'] ?? '', ip: clientAddress });
  if (token === undefined) throw new ProblemError('INVALID_CREDENTIALS');
  setCookie(reply, SESSION, app.publicUrl(), token);
  rememberBrowser(call, user);
}

/** Ends the session of the caller's cookie and its live connections. */
export async function endSession({ app, request }: AnyCall): Promise<void> {
  const token = readCookie(request, SESSION, app.publicUrl());
  const ended = token === undefined ? undefined : await app.sessions.end(token);
  if (ended !== undefined) app.live.endSession(ended);
}

/**
 * Marks the browser as known after the user was authenticated: failed logins of others no longer affect the user in
 * this browser.
 */
export function rememberBrowser({ app, request, reply }: AnyCall, user: UserRecord): void {
  const before = readCookie(request, KNOWN_BROWSER, app.publicUrl());
  setCookie(reply, KNOWN_BROWSER, app.publicUrl(), app.accounts.knownBrowsers.remember(user, before));
}
