import { presentUser } from './present-user.ts';
import type { Handlers } from '../../http/call.ts';
import { PROVEN_IDENTITY, SESSION, clearCookie, readCookie } from '../../http/cookies.ts';
import { endSession, startSession, visitorOf } from './start-session.ts';

/** Registration, login and logout. */
export const loginHandlers = {
  async register(call) {
    const user = await call.app.accounts.login.register(call.body, visitorOf(call));
    await startSession(call, user);
    return presentUser(user);
  },

  async login(call) {
    const user = await call.app.accounts.login.withPassword(call.body, visitorOf(call));
    await startSession(call, user);
    return presentUser(user);
  },

  async googleLogin(call) {
    const { app, body, request, reply, clientAddress } = call;
    const handle = readCookie(request, PROVEN_IDENTITY, app.publicUrl());
    const user = await app.accounts.providerLogin.signIn(body, handle, clientAddress);
    clearCookie(reply, PROVEN_IDENTITY, app.publicUrl());
    await startSession(call, user);
    return presentUser(user);
  },

  async logout(call) {
    await endSession(call);
    clearCookie(call.reply, SESSION, call.app.publicUrl());
    // Clears cached pages too. Not "cookies": the browser stays a known one.
    void call.reply.header('clear-site-data', '"cache"');
  },
} satisfies Handlers;
