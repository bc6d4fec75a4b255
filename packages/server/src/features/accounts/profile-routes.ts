import { presentUser } from './present-user.ts';
import { TAKEN } from './login.ts';
import { MIXED_SCRIPTS, mixesScripts } from './username-scripts.ts';
import { ProblemError, invalid } from '../../http/problem.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { KNOWN_BROWSER, SESSION, clearCookie, setCookie } from '../../http/cookies.ts';
import { rememberBrowser } from './start-session.ts';

/** Maximum age of a login that replaces the password check for a user without a password. */
const FRESH_MS = 10 * 60_000;
const NO_PASSWORD = 'This account has no password yet. Use "Forgot your password?" on the sign-in page to set one.';

async function confirmOwner({ app, signedIn, body }: Call<'deleteAccount'>): Promise<void> {
  const { user, session } = signedIn;
  if (user.passwordHash === null) {
    if (app.now() - session.createdAt > FRESH_MS) throw new ProblemError('SIGN_IN_AGAIN');
    return;
  }
  if (body.password === '') throw invalid({ password: 'Please enter your password' });
  if (!(await app.accounts.login.confirmPassword(user, body.password)))
    throw invalid({ password: 'Password is incorrect' });
}

/** The user's own account. */
export const profileHandlers = {
  async getUser({ app, signedIn }) {
    const { billing } = app;
    return presentUser(billing === undefined ? signedIn.user : await billing.afterCheckout(signedIn.user));
  },

  async changeUsername({ app, signedIn, body }) {
    if (mixesScripts(body.username)) throw invalid({ username: MIXED_SCRIPTS });
    const { throttle } = app.accounts;
    const refused = throttle.takenNames(app.config.signupsPerHour, `user ${signedIn.user.id}`);
    await throttle.check([refused]);
    const renamed = await app.store.renameUser(signedIn.user.id, body.username);
    if (renamed === undefined) throw new ProblemError('NOT_SIGNED_IN');
    if (renamed !== 'taken') return presentUser(renamed);
    await refused.consume();
    throw invalid({ username: TAKEN.username });
  },

  async changePassword(call) {
    const { app, signedIn, body, reply } = call;
    const { user, session } = signedIn;
    if (user.passwordHash === null) throw invalid({ currentPassword: NO_PASSWORD });
    const passwordHash = (await app.accounts.login.confirmPassword(user, body.currentPassword))
      ? await app.accounts.passwords.hash(body.newPassword, { owner: `user ${user.id}` })
      : undefined;
    // The second condition is a concurrent change: the password that was checked is no longer the current one.
    if (passwordHash === undefined || !(await app.store.replacePassword(user.id, user.passwordHash, passwordHash))) {
      throw invalid({ currentPassword: 'Current password is incorrect' });
    }
    await app.store.endSessions(user.id, session.id);
    app.live.endUserSessions(user.id, session.id);
    const token = await app.sessions.renew(session.id);
    if (token !== undefined) setCookie(reply, SESSION, app.publicUrl(), token);
    rememberBrowser(call, { ...user, passwordHash });
    return { message: 'Password updated successfully' };
  },

  async deleteAccount(call) {
    await confirmOwner(call);
    const { app, signedIn, reply } = call;
    // First, because the subscription of a deleted account could not be canceled.
    await app.billing?.endFor(signedIn.user);
    const endpoints = (await app.store.deleteUser(signedIn.user.id)) ?? [];
    app.live.endUserSessions(signedIn.user.id);
    for (const endpoint of endpoints) {
      app.forgetEndpoint(endpoint.uid);
      app.live.publish(endpoint.id, { type: 'endpoint-deleted' });
    }
    app.purgeSoon();
    // Clears each cookie. "cookies" in the header below would also clear those of other sites under the same domain.
    for (const cookie of [SESSION, KNOWN_BROWSER]) clearCookie(reply, cookie, app.publicUrl());
    void reply.header('clear-site-data', '"cache", "storage"');
  },
} satisfies Handlers;
