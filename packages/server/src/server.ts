import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { presentEndpointDetail } from './api/present-endpoint.ts';
import { createApiServer } from './api/api-server.ts';
import { isFromElsewhere } from './api/same-origin.ts';
import { readCookie, SESSION } from './api/cookies.ts';
import { createAccounts } from './accounts/accounts.ts';
import { Sessions } from './accounts/sessions.ts';
import type { AppContext } from './app-context.ts';
import { Background } from './background.ts';
import { answerRefused } from './capture/answers.ts';
import type { CaptureHandler } from './capture/capture-handler.ts';
import { createCaptureService } from './capture/capture-service.ts';
import { isCaptureTarget } from './capture/capture-target.ts';
import { inspectHead, isAmbiguous } from './capture/inspect-head.ts';
import type { Config } from './config.ts';
import { createListener } from './http-listener.ts';
import type { ListenerTimeouts } from './http-listener.ts';
import { LiveSockets } from './live/live-socket.ts';
import { checkUpgrade, isLiveUpgrade, refuseUpgrade } from './live/upgrade.ts';
import type { Logger } from './log.ts';
import { createMailer } from './mail/mailer.ts';
import { defaultSender } from './mail/sender.ts';
import { createMetrics } from './metrics.ts';
import { registerPages } from './pages.ts';
import type { Store } from './storage/store.ts';
import { UpkeepLoop } from './upkeep/upkeep.ts';

/** How long what is in flight may take once the server was told to stop. */
const STOP_MS = 8000;

export interface RunningServer {
  /** Where it listens, for links and capture URLs. */
  readonly url: string;
  readonly port: number;
  /** Takes nothing new, finishes what is in flight, writes the queue, closes storage. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly store: Store;
  readonly log: Logger;
  readonly now?: () => number;
  readonly timeouts?: ListenerTimeouts;
}

/** The switchboard: capture, upgrade, or everything else. Listens when it resolves; throws what `listen` throws. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, store, log, now = Date.now } = options;
  let listener: Server | undefined;
  let stopping = false;
  const publicUrl = (): string => config.publicUrl ?? `http://${urlHost(config.host)}:${portOf(listener)}`;
  const sessions = new Sessions(store, now);
  const onFailure = (error: unknown): void => log.error({ err: error }, 'the live view failed');
  const live = new LiveSockets({
    store,
    describeEndpoint: async (uid) => {
      const detail = await store.findEndpointDetail(uid);
      return detail && { type: 'endpoint', data: presentEndpointDetail(detail, publicUrl(), config.maxSavedPerEndpoint) };
    },
    isSignedIn: (sessionId) => store.isSessionOpen(sessionId, now()),
    onFailure,
  });
  const capture = createCaptureService({ config, store, log, now, live: () => live, metrics: () => metrics });
  const metrics = createMetrics({ viewers: () => live.viewerCount, waitingCaptures: capture.waitingCount, bodyBytesInMemory: capture.bodyBytes });
  const background = new Background(log);
  const mailer = config.smtpUrl === undefined ? undefined : createMailer(config.smtpUrl, () => config.mailFrom ?? defaultSender(publicUrl()));
  const accounts = await createAccounts({ store, config, mailer, background, publicUrl, now });
  const app: AppContext = { config, store, sessions, accounts, mailer, live, log, now, publicUrl, forgetEndpoint: capture.forgetEndpoint };

  const serverFactory = (handler: RequestListener): Server => {
    listener = createListener(...switchboard(capture.handle, handler), options.timeouts);
    return listener;
  };
  const api = await createApiServer(app, serverFactory, { metrics: metrics.registry, isStopping: () => stopping }, registerPages);
  listener?.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => void upgrade(app, api, live, request, socket, head));
  await api.listen({ port: config.port, host: config.host });
  const upkeep = new UpkeepLoop({ store, config, live, log, now, forgetEndpoint: capture.forgetEndpoint });
  upkeep.start();

  async function stopAll(): Promise<void> {
    stopping = true;
    await upkeep.stop();
    live.close();
    const force = setTimeout(() => listener?.closeAllConnections(), STOP_MS);
    await api.close();
    clearTimeout(force);
    await background.settle(STOP_MS);
    await capture.drain();
    await store.close();
  }
  let stopped: Promise<void> | undefined;
  return { url: publicUrl(), port: portOf(listener), stop: () => (stopped ??= stopAll()) };
}

/** What is called for a request, and for one that waits for `100 Continue`: capture, or everything else. */
function switchboard(capture: CaptureHandler, everythingElse: RequestListener): [RequestListener, RequestListener] {
  const others: RequestListener = (request, response) => {
    if (isAmbiguous(request, inspectHead(request.method ?? '', request.rawHeaders))) answerRefused(request, response, 'BAD_REQUEST', { close: true });
    else everythingElse(request, response);
  };
  const onRequest: RequestListener = (request, response) => (isCaptureTarget(request.url ?? '') ? capture(request, response, false) : others(request, response));
  const onContinue: RequestListener = (request, response) => {
    if (isCaptureTarget(request.url ?? '')) return capture(request, response, true);
    response.writeContinue();
    others(request, response);
  };
  return [onRequest, onContinue];
}

/** An IPv6 address stands in brackets in a URL. */
function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function portOf(listener: Server | undefined): number {
  const address: AddressInfo | string | null | undefined = listener?.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A live view: checked as HTTP, so that a refusal has a status (contract 5). */
async function upgrade(app: AppContext, api: FastifyInstance, live: LiveSockets, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  // Without a listener, a peer that vanishes during the checks would end the process.
  const ignore = (): void => undefined;
  socket.on('error', ignore);
  try {
    if (!isLiveUpgrade(request)) return refuseUpgrade(socket, 'NOT_FOUND');
    const allowed = await checkUpgrade(request, {
      isFromElsewhere: (from) => isFromElsewhere(from.headers, app.publicUrl()),
      signedIn: async (from) => {
        const token = readCookie({ cookies: api.parseCookie(from.headers.cookie ?? '') }, SESSION, app.publicUrl());
        return token === undefined ? undefined : app.sessions.find(token);
      },
      findEndpoint: (uid) => app.store.findEndpoint(uid),
    });
    if (typeof allowed === 'string') return refuseUpgrade(socket, allowed);
    socket.off('error', ignore);
    live.accept(request, socket, head, allowed.signedIn, allowed.endpoint);
  } catch (error) {
    app.log.error({ err: error }, 'a live view could not be opened');
    refuseUpgrade(socket, 'INTERNAL');
  }
}
