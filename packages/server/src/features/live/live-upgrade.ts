import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AppContext } from '../../app-context.ts';
import { inspectHead, isAmbiguous } from '../../http/inspect-head.ts';
import type { LiveConnections } from './live-connections.ts';
import { checkUpgrade, refuseUpgrade } from './upgrade.ts';
import { readCookie, SESSION } from '../../http/cookies.ts';
import { isCrossOrigin } from '../../http/same-origin.ts';

type ParseCookie = (header: string) => Record<string, string | undefined>;

/**
 * Handles the upgrade to a live connection. It is checked as an HTTP request first, so that a rejection has a status.
 * Only `/ws` comes here: see listener.ts.
 */
export function createLiveUpgrade(app: AppContext, live: LiveConnections, parseCookie: ParseCookie) {
  return async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Without a listener, a connection error during the checks would end the process.
    socket.on('error', () => undefined);
    try {
      if (isAmbiguous(request, inspectHead(request.method ?? '', request.rawHeaders)))
        return refuseUpgrade(socket, 'BAD_REQUEST');
      const allowed = await checkUpgrade(request, {
        isCrossOrigin: (from) => isCrossOrigin(from.headers, app.publicUrl()),
        signedIn: async (from) => {
          const token = readCookie({ cookies: parseCookie(from.headers.cookie ?? '') }, SESSION, app.publicUrl());
          return token === undefined ? undefined : app.sessions.find(token);
        },
        findEndpoint: (uid) => app.store.findEndpoint(uid),
      });
      if (typeof allowed === 'string') return refuseUpgrade(socket, allowed);
      live.accept(request, socket, head, allowed.signedIn, allowed.endpoint);
    } catch (error) {
      app.log.error({ err: error }, 'a live view could not be opened');
      refuseUpgrade(socket, 'INTERNAL');
    }
  };
}
