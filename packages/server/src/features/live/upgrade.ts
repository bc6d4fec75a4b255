import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { AppContext } from '../../app-context.ts';
import { inspectHead } from '../../http/listener.ts';
import { authenticate, findOwnEndpoint } from '../../http/operations.ts';
import { ProblemError } from '../../http/problem.ts';
import { refuseUpgrade } from '../../http/raw-response.ts';
import { isCrossOrigin } from '../../http/same-origin.ts';
import { securityHeaders } from '../../http/security-headers.ts';
import type { Live, Viewer } from './service.ts';

/** True for the only path that may upgrade. All other upgrade requests are handled as ordinary requests. */
export function isLiveUpgrade({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  return /^\/ws(\?|$)/.test(url) && /(^|,)\s*websocket\s*(,|$)/i.test(headers.upgrade ?? '');
}

/** Viewers have nothing to send, so their messages are small. @types/ws 8.18 lacks some of these options. */
const SOCKET_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  /** One frame per turn of the event loop, so that a connection with thousands of frames does not delay others. */
  allowSynchronousEvents: false,
  maxPayload: 64 * 1024,
  maxFragments: 1024,
  maxBufferedChunks: 1024,
  /** Milliseconds for the closing handshake; the socket must be closed within a second. */
  closeTimeout: 900,
};

/** Completes upgrades after their checks: authenticated user, same origin, and ownership of the endpoint. */
export function createHandshakes(live: Live, security: ReadonlyMap<string, string>) {
  const server = new WebSocketServer(SOCKET_OPTIONS);
  // An invalid handshake gets the same error format as every other request.
  server.on('wsClientError', (_error, socket) => refuseUpgrade(socket, new ProblemError('BAD_REQUEST'), security));
  return (request: IncomingMessage, socket: Duplex, head: Buffer, viewer: Viewer): void => {
    live.expectConnectionAllowed(viewer.loggedIn.user.id);
    server.handleUpgrade(request, socket, head, (webSocket) => live.connect(webSocket, socket, viewer));
  };
}

type ParseCookie = (header: string) => Record<string, string | undefined>;

/**
 * Handles the upgrade to a live connection. It is checked as an HTTP request first, so that a rejection has a status.
 * Only requests to `/ws` are handled here; see listener.ts.
 */
export function createLiveUpgrade(app: AppContext, parseCookie: ParseCookie) {
  const security = securityHeaders(app);
  const complete = createHandshakes(app.live, security);
  return async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    try {
      complete(request, socket, head, await checkUpgrade(request, app, parseCookie));
    } catch (error) {
      if (!(error instanceof ProblemError)) app.log.error({ err: error }, 'a live view could not be opened');
      refuseUpgrade(socket, error, security);
    }
  };
}

/** Checks that the caller is logged in, owns the endpoint, and comes from our own origin. @throws ProblemError if not */
async function checkUpgrade(request: IncomingMessage, app: AppContext, parseCookie: ParseCookie): Promise<Viewer> {
  const { refusal } = inspectHead(request);
  if (refusal !== undefined) throw new ProblemError(refusal);
  if (isCrossOrigin(request.headers, app.publicUrl())) throw new ProblemError('CROSS_ORIGIN');
  const loggedIn = await authenticate(app, { cookies: parseCookie(request.headers.cookie ?? '') });
  const uid = new URLSearchParams(request.url?.slice('/ws'.length)).get('endpoint') ?? '';
  return { loggedIn, endpoint: await findOwnEndpoint(app, loggedIn, uid) };
}
