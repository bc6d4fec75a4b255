import { MailRefused } from '../mail/service.ts';
import { ProblemError } from '../../http/problem.ts';
import type { Handlers } from '../../http/call.ts';
import { rememberBrowser } from './start-session.ts';

/** The same text for known and unknown addresses. */
const RESET_ASKED = 'If an account has this address, a link is on its way to it. It works once, for 30 minutes.';

/** Password resets and email verification by mailed links. */
export const mailedLinkHandlers = {
  async requestPasswordReset({ app, body, clientAddress }) {
    await app.accounts.links.requestReset(body.email, clientAddress);
    return { message: RESET_ASKED };
  },

  async resetPassword(call) {
    const { app, body } = call;
    const user = await app.accounts.links.resetPassword(body.token, body.password);
    app.live.endUserSessions(user.id);
    await app.accounts.login.forgive(user);
    // The new password made every browser unknown. Without this, guesses of others would lock the owner out of this
    // browser too.
    rememberBrowser(call, user);
    return { message: 'Your password was changed. Please sign in with it.' };
  },

  async requestEmailVerification({ app, signedIn, clientAddress }) {
    const { user } = signedIn;
    if (user.emailVerified) return { message: 'Your email address is confirmed already.' };
    try {
      await app.accounts.links.requestVerification(user, clientAddress);
    } catch (error) {
      throw error instanceof MailRefused ? new ProblemError('MAIL_FAILED', { sentence: error.words }) : error;
    }
    return { message: `A link is on its way to ${user.email}. It works once, for 30 minutes.` };
  },

  async verifyEmail({ app, signedIn, body }) {
    const { user, session } = signedIn;
    await app.accounts.links.verify(user, body.token);
    // Sessions from before the address was proven may belong to another person.
    await app.store.endSessions(user.id, session.id);
    app.live.endUserSessions(user.id, session.id);
    return { message: 'Your email address is confirmed.' };
  },
} satisfies Handlers;
