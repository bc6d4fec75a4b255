import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AppContext } from '../../app-context.ts';
import { inspectHead } from '../../http/listener.ts';
import { authenticate, findOwnEndpoint } from '../../http/operations.ts';
import { ProblemError } from '../../http/problem.ts';
import { refuseUpgrade } from '../../http/raw-response.ts';
import { isCrossOrigin } from '../../http/same-origin.ts';
import type { LiveService, Viewer } from './service.ts';

/** True for the only path that may upgrade. All other upgrade requests are handled as ordinary requests. */
export function isLiveUpgrade(request: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  return /^\/ws(\?|$)/.test(request.url ?? '') && /(^|,)\s*websocket\s*(,|$)/i.test(request.headers.upgrade ?? '');
}

type ParseCookie = (header: string) => Record<string, string | undefined>;

/**
 * Handles the upgrade to a live connection. It is checked as an HTTP request first, so that a rejection has a status.
 * Only `/ws` comes here: see listener.ts.
 */
export function createLiveUpgrade(app: AppContext, live: LiveService, parseCookie: ParseCookie) {
  return async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    try {
      live.accept({ request, socket, head }, await checkUpgrade(request, app, parseCookie));
    } catch (error) {
      if (!(error instanceof ProblemError)) app.log.error({ err: error }, 'a live view could not be opened');
      refuseUpgrade(socket, error);
    }
  };
}

/** Checks that the caller is the owner, is logged in, and comes from our own origin. Throws a ProblemError if not. */
async function checkUpgrade(request: IncomingMessage, app: AppContext, parseCookie: ParseCookie): Promise<Viewer> {
  const { refusal } = inspectHead(request);
  if (refusal !== undefined) throw new ProblemError(refusal);
  if (isCrossOrigin(request.headers, app.publicUrl())) throw new ProblemError('CROSS_ORIGIN');
  const signedIn = await authenticate(app, { cookies: parseCookie(request.headers.cookie ?? '') });
  return { signedIn, endpoint: await findOwnEndpoint(app, signedIn, uidOf(request.url ?? '')) };
}

function uidOf(url: string): string {
  const queryAt = url.indexOf('?');
  return new URLSearchParams(queryAt < 0 ? '' : url.slice(queryAt + 1)).get('endpoint') ?? '';
}
