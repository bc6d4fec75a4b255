import type { Session } from '@creel/contract';
import type { SessionRecord } from '../../database/store.ts';
import type { Handlers } from '../../http/call.ts';

function presentSession(session: SessionRecord, currentId: string): Session {
  return {
    id: session.id,
    createdAt: new Date(session.createdAt).toISOString(),
    lastSeenAt: new Date(session.lastSeenAt).toISOString(),
    userAgent: session.userAgent,
    ip: session.ip,
    current: session.id === currentId,
  };
}

/** The user's sessions. */
export const sessionHandlers = {
  async listSessions({ app, signedIn }) {
    const sessions = await app.store.listSessions(signedIn.user.id, app.now());
    return sessions.map((session) => presentSession(session, signedIn.session.id));
  },

  async endOtherSessions({ app, signedIn }) {
    const { user, session } = signedIn;
    await app.store.endSessions(user.id, session.id);
    app.live.endUserSessions(user.id, session.id);
  },
} satisfies Handlers;
