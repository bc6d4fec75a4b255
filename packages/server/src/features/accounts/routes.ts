import { closedSignal } from '../../http/call.ts';
import type { Handlers, Call } from '../../http/call.ts';
import { presentUser } from './service.ts';
import { addressBlock } from '../../http/client-address.ts';
import {
  KNOWN_BROWSER,
  MAX_FLOWS,
  PROVEN_IDENTITY,
  SESSION,
  clearCookie,
  cookiesOfFlows,
  readCookie,
  setCookie,
} from '../../http/cookies.ts';
import type { Session, OperationName, User } from '@creel/contract';
import type { SessionRecord, UserRecord } from '../../database/records.ts';
import { MailRefused } from '../mail/service.ts';
import { ProblemError, invalid } from '../../http/problem.ts';
import { isoTime } from '../../iso-time.ts';
import { TAKEN } from './login.ts';
import type { Visitor } from './login.ts';
import { MIXED_SCRIPTS, mixesScripts } from './username-scripts.ts';

type AnyCall = Pick<Call<OperationName>, 'app' | 'request' | 'reply' | 'clientAddress'>;
type LoggedInCall = Pick<Call<'endOtherSessions'>, 'app' | 'loggedIn'>;

/** The caller, before authentication. */
function visitorOf({ app, request, reply, clientAddress }: AnyCall): Visitor {
  const knownBrowser = readCookie(request, KNOWN_BROWSER, app.publicUrl());
  const owner = addressBlock(clientAddress);
  return { address: clientAddress, knownBrowser, owner, signal: closedSignal(reply) };
}

/**
 * Starts a session for a user who has just been authenticated. Ends an older session of the same browser, because its
 * token may have been planted. @throws ProblemError INVALID_CREDENTIALS when the password was changed meanwhile
 */
async function logIn(call: AnyCall, user: UserRecord): Promise<User> {
  const { app, request, reply, clientAddress } = call;
  await endSession(call);
  const started = await app.accounts.sessions.start(user, {
    userAgent: request.headers['user-agent'] ?? '',
    ip: clientAddress,
  });
  if (started === undefined) throw new ProblemError('INVALID_CREDENTIALS');
  for (const id of started.ended) app.live.publish({ kind: 'session', id });
  setCookie(reply, SESSION, app.publicUrl(), started.token);
  rememberBrowser(call, user);
  return presentUser(user);
}

/** Ends the session of the caller's cookie and its live connections. */
async function endSession({ app, request }: AnyCall): Promise<void> {
  const token = readCookie(request, SESSION, app.publicUrl());
  const ended = token === undefined ? undefined : await app.accounts.sessions.end(token);
  if (ended !== undefined) app.live.publish({ kind: 'session', id: ended });
}

/** Ends the user's sessions except the caller's, with their live connections. */
async function endOtherSessions({ app, loggedIn: { user, session } }: LoggedInCall): Promise<void> {
  await app.store.endSessions(user.id, session.id);
  app.live.publish({ kind: 'user', id: user.id, exceptSessionId: session.id });
}

/**
 * Marks the browser as known after the user was authenticated: failed logins of others no longer affect the user in
 * this browser.
 */
function rememberBrowser({ app, request, reply }: AnyCall, user: UserRecord): void {
  const before = readCookie(request, KNOWN_BROWSER, app.publicUrl());
  setCookie(reply, KNOWN_BROWSER, app.publicUrl(), app.accounts.knownBrowsers.remember(user, before));
}

const loginHandlers = {
  async register(call) {
    return logIn(call, await call.app.accounts.login.register(call.body, visitorOf(call)));
  },

  async login(call) {
    return logIn(call, await call.app.accounts.login.withPassword(call.body, visitorOf(call)));
  },

  async googleLogin(call) {
    const { app, body, request, reply, clientAddress } = call;
    const publicUrl = app.publicUrl();
    const cookies = cookiesOfFlows(request, PROVEN_IDENTITY, publicUrl).slice(-MAX_FLOWS);
    const handleIn = (cookie: (typeof cookies)[number]): string => readCookie(request, cookie, publicUrl) ?? '';
    const { user, handle } = await app.accounts.providerLogin.logIn(body, cookies.map(handleIn), clientAddress);
    for (const cookie of cookies) if (handleIn(cookie) === handle) clearCookie(reply, cookie, publicUrl);
    return logIn(call, user);
  },

  async logout(call) {
    await endSession(call);
    clearCookie(call.reply, SESSION, call.app.publicUrl());
    // Clears cached pages too. Not "cookies": the browser stays a known one.
    void call.reply.header('clear-site-data', '"cache"');
  },
} satisfies Handlers;

function presentSession(session: SessionRecord, currentId: string): Session {
  return {
    id: session.id,
    createdAt: isoTime(session.createdAt),
    lastSeenAt: isoTime(session.lastSeenAt),
    userAgent: session.userAgent,
    ip: session.ip,
    current: session.id === currentId,
  };
}

const sessionHandlers = {
  async listSessions({ app, loggedIn }) {
    const sessions = await app.store.listSessions(loggedIn.user.id, app.now());
    return sessions.map((session) => presentSession(session, loggedIn.session.id));
  },

  async endOtherSessions(call) {
    await endOtherSessions(call);
  },
} satisfies Handlers;

/** The same text for known and unknown addresses. */
const RESET_ASKED = 'If an account has this address, a link is on its way to it. It works once, for 30 minutes.';

const mailedLinkHandlers = {
  async requestPasswordReset({ app, body, clientAddress }) {
    await app.accounts.links.requestReset(body.email, clientAddress);
    return { message: RESET_ASKED };
  },

  async resetPassword(call) {
    const { app, body } = call;
    const user = await app.accounts.links.resetPassword(body.token, body.password);
    app.live.publish({ kind: 'user', id: user.id });
    await app.accounts.login.resetFailures(user);
    // The new password made all browsers unknown. Guesses of others would lock the owner out of this one too.
    rememberBrowser(call, user);
    return { message: 'Your password was changed. Please log in with it.' };
  },

  async requestEmailVerification({ app, loggedIn, clientAddress }) {
    const { user } = loggedIn;
    if (user.emailVerified) return { message: 'Your email address is confirmed already.' };
    try {
      await app.accounts.links.requestVerification(user, clientAddress);
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      app.log.warn({ err: error }, 'a confirmation link could not be sent');
      throw new ProblemError('MAIL_FAILED', { sentence: error.message });
    }
    return { message: `A link is on its way to ${user.email}. It works once, for 30 minutes.` };
  },

  async verifyEmail({ app, loggedIn, body }) {
    await app.accounts.links.verify(loggedIn.user, body.token);
    // Sessions from before the address was proven may belong to another person.
    await endOtherSessions({ app, loggedIn });
    return { message: 'Your email address is confirmed.' };
  },
} satisfies Handlers;

/** Maximum age of a login that replaces the password check for a user without a password. */
const FRESH_MS = 10 * 60_000;
const NO_PASSWORD = 'This account has no password yet. Use "Forgot your password?" on the login page to set one.';

async function confirmOwner({ app, loggedIn, body }: Call<'deleteAccount'>): Promise<void> {
  const { user, session } = loggedIn;
  if (user.passwordHash === null) {
    if (app.now() - session.createdAt > FRESH_MS) throw new ProblemError('SIGN_IN_AGAIN');
    return;
  }
  if (body.password === '') throw invalid({ password: 'Please enter your password' });
  if (!(await app.accounts.login.confirmPassword(user, body.password)))
    throw invalid({ password: 'Password is incorrect' });
}

const profileHandlers = {
  async getUser({ app, loggedIn }) {
    const { billing } = app;
    return presentUser(billing === undefined ? loggedIn.user : await billing.sync.afterCheckout(loggedIn.user));
  },

  async changeUsername({ app, loggedIn, body }) {
    if (mixesScripts(body.username)) throw invalid({ username: MIXED_SCRIPTS });
    const { throttle } = app.accounts;
    const refused = throttle.of('takenName', `user ${loggedIn.user.id}`);
    await throttle.check([refused]);
    const renamed = await app.store.renameUser(loggedIn.user.id, body.username);
    if (renamed === undefined) throw new ProblemError('NOT_SIGNED_IN');
    if (renamed !== 'taken') return presentUser(renamed);
    await refused.consume();
    throw invalid({ username: TAKEN.username });
  },

  async changePassword(call) {
    const { app, loggedIn, body, reply } = call;
    const { user, session } = loggedIn;
    if (user.passwordHash === null) throw invalid({ currentPassword: NO_PASSWORD });
    const passwordHash = (await app.accounts.login.confirmPassword(user, body.currentPassword))
      ? await app.accounts.passwords.hash(body.newPassword, { owner: `user ${user.id}` })
      : undefined;
    // The second condition is a concurrent change: the checked password is no longer the current one.
    if (passwordHash === undefined || !(await app.store.replacePassword(user.id, user.passwordHash, passwordHash))) {
      throw invalid({ currentPassword: 'Current password is incorrect' });
    }
    await endOtherSessions(call);
    const token = await app.accounts.sessions.renew(session.id);
    if (token !== undefined) setCookie(reply, SESSION, app.publicUrl(), token);
    rememberBrowser(call, { ...user, passwordHash });
    return { message: 'Password updated successfully' };
  },

  async deleteAccount(call) {
    await confirmOwner(call);
    const { app, loggedIn, reply } = call;
    // First, because the subscription of a deleted account could not be canceled.
    await app.billing?.endFor(loggedIn.user);
    const endpointIds = (await app.store.deleteUser(loggedIn.user.id)) ?? [];
    app.live.publish({ kind: 'user', id: loggedIn.user.id });
    for (const endpointId of endpointIds) app.live.publish({ kind: 'gone', endpointId });
    app.purgeSoon();
    // Clears each cookie. "cookies" in the header below would also clear those of other sites under the same domain.
    for (const cookie of [SESSION, KNOWN_BROWSER]) clearCookie(reply, cookie, app.publicUrl());
    void reply.header('clear-site-data', '"cache", "storage"');
  },
} satisfies Handlers;

export const accountHandlers = {
  ...loginHandlers,
  ...profileHandlers,
  ...sessionHandlers,
  ...mailedLinkHandlers,
} satisfies Handlers;
