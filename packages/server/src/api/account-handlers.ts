import { DEFAULT_USER_SETTINGS } from '@creel/contract';
import type { OperationName } from '@creel/contract';
import { hashPassword, verifyPassword } from '../accounts/passwords.ts';
import { presentUser } from '../accounts/present-user.ts';
import { ProblemError, invalid } from '../problem.ts';
import type { UserRecord } from '../storage/store.ts';
import type { Call, Handlers } from './call.ts';
import { clearSessionCookie, readSessionCookie, setSessionCookie } from './session-cookie.ts';

const TAKEN = { username: 'Username already exists', email: 'Email already exists' } as const;

/** Starts a session for the caller. An older one of the same browser ends: its token may have been planted. */
async function signIn(call: Pick<Call<OperationName>, 'app' | 'request' | 'reply' | 'clientAddress'>, user: UserRecord): Promise<void> {
  const { app, request, reply } = call;
  const before = readSessionCookie(request, app.publicUrl());
  if (before !== undefined) await app.sessions.end(before);
  const { token } = await app.sessions.start(user.id, { userAgent: request.headers['user-agent'] ?? '', ip: call.clientAddress });
  setSessionCookie(reply, app.publicUrl(), token);
}

export const accountHandlers = {
  getUser: async ({ signedIn }) => presentUser(signedIn.user),

  async register(call) {
    const { app, body } = call;
    const created = await app.store.createUser({
      username: body.username,
      email: body.email,
      emailVerified: false,
      passwordHash: await hashPassword(body.password),
      displayName: null,
      subscriptionTier: app.config.defaultTier,
      settings: { ...DEFAULT_USER_SETTINGS, email: body.email },
      createdAt: app.now(),
    });
    if ('taken' in created) throw invalid(Object.fromEntries(created.taken.map((field) => [field, TAKEN[field]])));
    await signIn(call, created.user);
    return presentUser(created.user);
  },

  async login(call) {
    const { app, body } = call;
    const user = await app.store.findUserByName(body.username);
    if (!(await verifyPassword(body.password, user?.passwordHash)) || user === undefined) throw new ProblemError('INVALID_CREDENTIALS');
    await signIn(call, user);
    return presentUser(user);
  },

  async logout({ app, request, reply }) {
    const token = readSessionCookie(request, app.publicUrl());
    const ended = token === undefined ? undefined : await app.sessions.end(token);
    if (ended !== undefined) app.live.endSession(ended);
    clearSessionCookie(reply, app.publicUrl());
  },
} satisfies Handlers;
