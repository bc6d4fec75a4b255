import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RequestListener, Server } from 'node:http';
import { createApiServer } from './http/api-server.ts';
import type { Routes } from './http/api-server.ts';
import { SerialQueues } from './features/search/serial-queues.ts';
import { createLiveUpgrade, isLiveUpgrade } from './features/live/upgrade.ts';
import { presentEndpointDetail } from './features/endpoints/present-endpoint.ts';
import { createAccounts } from './features/accounts/accounts.ts';
import { Passwords } from './features/accounts/passwords.ts';
import { Sessions } from './features/accounts/sessions.ts';
import { openBus } from './bus/open-bus.ts';
import type { Bus } from './bus/bus.ts';
import { NatsLink } from './bus/nats-connection.ts';
import type { AppContext } from './app-context.ts';
import { Background } from './features/jobs/background.ts';
import { KEEP_ALIVE_MS } from './http/raw-response.ts';
import { OverflowLog } from './features/capture/overflow-log.ts';
import { createCaptureService } from './features/capture/service.ts';
import type { CaptureService } from './features/capture/service.ts';
import type { Config } from './config.ts';
import { Connections, maxConnections } from './http/connections.ts';
import { createBilling } from './features/billing/create-billing.ts';
import { sendSubscriptionNotices } from './features/billing/notices.ts';
import {
  createListener,
  HEADERS_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  takeUpgrades,
  originOf,
  portOf,
} from './http/listener.ts';
import type { ListenerTimeouts } from './http/listener.ts';
import { LoopTurns } from './http/loop-turns.ts';
import { LiveService } from './features/live/service.ts';
import type { Logger } from './log.ts';
import { createMailer, defaultSender } from './features/mail/mailer.ts';
import type { Mailer } from './features/mail/mailer.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { registerPages } from './http/static-pages.ts';
import { Replays } from './features/replay/replays.ts';
import type { ReplayOptions } from './features/replay/replays.ts';
import type { Store } from './database/store.ts';
import { watchDisk } from './disk-log.ts';
import { createDispatch } from './http/dispatch.ts';
import { HANDLERS } from './routes.ts';
import { registerProviderRoutes } from './features/accounts/provider-routes.ts';
import { isCaptureTarget } from './features/capture/capture-target.ts';

import { sendExpiryNotices } from './features/jobs/expiry-notices.ts';
import { IntervalJob } from './features/jobs/interval-job.ts';
import { runMaintenance } from './features/jobs/maintenance.ts';
import { VERSION } from './version.ts';

/** Milliseconds for open requests to finish after a stop signal, and then for their background work. */
const STOP_MS = 8000;
const SETTLE_MS = 500;
/** Milliseconds in which balancers learn that the server stops, and requests on open connections are answered. */
const DRAIN_MS = 1000;

/** Length of the listen queue. Node's default of 511 fills up during one long turn of the event loop. */
const BACKLOG = 4096;
/** Maximum number of open connections. Each costs a file descriptor and about 10 KiB. */
const MAX_CONNECTIONS = 10_000;

export interface RunningServer {
  /** The address that the server listens on, for links and capture URLs. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting connections, finishes open requests, writes queued captures, and closes storage. Safe to call
   * twice.
   */
  readonly stop: () => Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly store: Store;
  readonly log: Logger;
  /** Log lines that could not be written since the start. */
  readonly lostLogLines?: () => number;
  readonly now?: () => number;
  /** Defaults to OWASP's cost. */
  readonly passwords?: Passwords;
  readonly timeouts?: ListenerTimeouts;
  /** Overrides how replays are sent and how long they may take. */
  readonly replay?: Partial<Pick<ReplayOptions, 'sendRequest' | 'maxMs'>> | undefined;
  /** Milliseconds between two pings of a live connection. */
  readonly livePingMs?: number | undefined;
  /** Milliseconds between a stop and the end of idle connections. */
  readonly drainMs?: number | undefined;
}

/** Where the build puts the web app, seen from this file and from its bundle. */
export const WEB_ROOT = fileURLToPath(new URL('../../web/dist', import.meta.url));

const ROUTES: Routes = {
  handlers: HANDLERS,
  registerOthers: registerProviderRoutes,
  registerPages: (server, app) => registerPages(server, app, WEB_ROOT),
};

/** Starts the whole server. Resolves when it listens; throws what `listen` throws. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, store, log, now = Date.now } = options;
  let stopping = false;
  const publicUrl = (): string => config.publicUrl ?? originOf(config.host, edge.server());
  const sessions = new Sessions(store, now);
  const nats = natsOf(options);
  const bus = await openBus({ databaseUrl: config.databaseUrl, nats, store });
  const overflowLog = nats && (await overflowLogOf(options, nats));
  const live = createLive(options, bus, now, publicUrl);
  const capture = createCaptureService({
    config,
    store,
    bus,
    overflowLog,
    log,
    now,
    live: () => live,
    metrics: () => metrics,
  });
  const edge = createEdge(options, capture, await maxConnections(MAX_CONNECTIONS));
  const metrics = metricsOf(options, { live, capture, bus }, () => passwords);
  const { passwords = new Passwords() } = options;
  const background = new Background(log);
  const mailer = mailerOf(config, publicUrl);
  const accounts = await createAccounts({ store, config, mailer, background, publicUrl, passwords, now });
  const { forgetEndpoint } = capture;
  const parts = { config, store, sessions, accounts, mailer, live, log, now, publicUrl, forgetEndpoint };
  const replays = replaysOf(options, now, publicUrl);
  let jobs: IntervalJob[] = [];
  const purgeSoon = (): void => jobs[0]?.wake();
  const app: AppContext = { ...parts, replays, billing: createBilling(parts), searches: new SerialQueues(), purgeSoon };
  const sources = { metrics: metrics.registry, isStopping: () => stopping, checkReady: capture.checkReady };
  const api = await createApiServer(app, edge.listen, sources, ROUTES);
  const upgrade = createLiveUpgrade(app, live, (header) => api.parseCookie(header));
  edge.takeUpgrades(upgrade);
  await api.listen({ port: config.port, host: config.host, backlog: BACKLOG });
  jobs = startJobs(app, capture.isDrained);

  const stop = async (): Promise<void> => {
    stopping = true;
    await stopAll(
      { edge, live, jobs, capture, background, api, store, replays, bus, nats },
      options.drainMs ?? DRAIN_MS,
    );
  };
  let stopped: Promise<void> | undefined;
  return { url: publicUrl(), port: portOf(edge.server()), stop: () => (stopped ??= stop()) };
}

interface Running {
  readonly edge: ReturnType<typeof createEdge>;
  readonly live: LiveService;
  readonly jobs: readonly IntervalJob[];
  readonly capture: CaptureService;
  readonly background: Background;
  readonly api: { readonly close: () => Promise<void> };
  readonly store: Store;
  readonly replays: Replays;
  readonly bus: Bus;
  readonly nats: NatsLink | undefined;
}

/**
 * Shuts down in the reverse order of dependencies, so that running requests keep everything they use. First, balancers
 * get time to learn of it: `/readyz` fails, and every response closes its connection.
 */
async function stopAll(running: Running, drainMs: number): Promise<void> {
  const { edge, live, jobs, capture, background, api, store, replays, bus, nats } = running;
  const until = performance.now() + STOP_MS;
  edge.drain();
  live.close();
  await sleep(drainMs);
  await Promise.all([edge.close(STOP_MS - drainMs), ...jobs.map((each) => each.stop(STOP_MS - drainMs))]);
  // Aborted senders no longer wait, but captures that arrived completely are still stored.
  await capture.drain();
  await capture.close();
  await background.settle(Math.max(until - performance.now(), SETTLE_MS));
  await api.close();
  await bus.close();
  await Promise.all([store.close(), replays.close(), nats?.close()]);
}

/** The listener and its connections. Fastify creates its server through this factory. */
function createEdge(options: ServerOptions, capture: CaptureService, limit: number) {
  const turns = new LoopTurns();
  let server: Server | undefined;
  let connections: Connections | undefined;
  let draining = false;
  const isDraining = (): boolean => draining;
  return {
    server: () => server,
    listen(everythingElse: RequestListener): Server {
      const targets = { isCapture: isCaptureTarget, capture: capture.handle, everythingElse };
      server = createListener(createDispatch(targets, turns), isLiveUpgrade, isDraining, options.timeouts);
      connections = new Connections(server, {
        ...connectionOptions(options, capture, turns, limit),
        isDraining,
      });
      return server;
    },
    takeUpgrades(upgrade: Parameters<typeof takeUpgrades>[1]): void {
      if (server !== undefined) takeUpgrades(server, upgrade);
    },
    /** Ends each connection with its next response. */
    drain: (): void => void (draining = true),
    close: async (maxMs: number): Promise<void> => connections?.close(maxMs),
  };
}

function connectionOptions(
  { timeouts }: ServerOptions,
  capture: CaptureService,
  turns: LoopTurns,
  limit: number,
): Omit<ConstructorParameters<typeof Connections>[1], 'isDraining'> {
  return {
    admit: capture.admitPlain,
    turns,
    silenceMs: timeouts?.headersMs ?? HEADERS_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_MS,
    bodyMs: timeouts?.requestMs ?? REQUEST_TIMEOUT_MS,
    maxConnections: limit,
  };
}

/**
 * Background jobs. Without a mail server no notice is claimed, so notices can still be sent after one is configured.
 */
function startJobs(app: AppContext, isDrained: () => boolean): IntervalJob[] {
  const { store, config, live, log, now, publicUrl, mailer, billing, forgetEndpoint } = app;
  const jobs = [
    new IntervalJob('maintenance', () => runMaintenance({ store, config, live, now, forgetEndpoint, isDrained }), log),
  ];
  if (billing !== undefined)
    jobs.push(new IntervalJob('reading subscriptions', (signal) => billing.reconcile(signal), log));
  if (mailer !== undefined) {
    const options = { store, mailer, config, publicUrl, log, now };
    jobs.push(new IntervalJob('sending notices', (signal) => sendExpiryNotices(options, signal), log));
    jobs.push(
      new IntervalJob('sending subscription notices', (signal) => sendSubscriptionNotices(options, signal), log),
    );
  }
  for (const each of jobs) each.start();
  return jobs;
}

function metricsOf(
  options: ServerOptions,
  { live, capture, bus }: Pick<Running, 'live' | 'capture' | 'bus'>,
  passwords: () => Passwords,
): Metrics {
  const { store, log, lostLogLines = () => 0 } = options;
  return createMetrics({
    lostLogLines,
    freeDiskBytes: watchDisk(store, log),
    viewers: () => live.viewerCount,
    waitingCaptures: capture.waitingCount,
    bodyBytesInMemory: capture.bodyBytes,
    waitingPasswords: () => passwords().waitingCount,
    isBusHealthy: () => bus.isHealthy,
    overflow: capture.overflow,
  });
}

function createLive(
  { config, store, log, livePingMs }: ServerOptions,
  bus: Bus,
  now: () => number,
  publicUrl: () => string,
): LiveService {
  return new LiveService({
    store,
    describeEndpoint: async (uid) => {
      const detail = await store.findEndpointDetail(uid);
      if (detail === undefined) return undefined;
      return { type: 'endpoint', data: presentEndpointDetail(detail, publicUrl(), config.maxSavedPerEndpoint) };
    },
    bus,
    now,
    onFailure: (error) => log.error({ err: error }, 'the live view failed'),
    pingMs: livePingMs,
  });
}

/** Replays identify this server in their user agent. */
function replaysOf({ config, replay }: ServerOptions, now: () => number, publicUrl: () => string): Replays {
  const userAgent = (): string => `Creel/${VERSION} (+${publicUrl()})`;
  return new Replays({ allowPrivate: config.allowPrivateTargets, now, userAgent, ...replay });
}

/** `undefined` without NATS_URL. */
function natsOf({ config, log }: ServerOptions): NatsLink | undefined {
  if (config.natsUrls.length === 0) return undefined;
  const onFailure = (error: unknown): void => log.error({ err: error }, 'NATS was not reached; it is tried again');
  return new NatsLink({ urls: config.natsUrls, onFailure });
}

/** Replicas of the overflow log, unless the cluster has fewer servers. */
const MAX_REPLICAS = 3;

/** The overflow log of this installation: other ones may use the same NATS cluster. */
async function overflowLogOf({ config, store }: ServerOptions, nats: NatsLink): Promise<OverflowLog> {
  const name = await store.keepSecret('installation', randomBytes(8).toString('hex'));
  const replicas = Math.min(MAX_REPLICAS, config.natsUrls.length);
  const log = new OverflowLog({ name, replicas, maxBytes: config.overflowMaxBytes });
  void nats.ready.then((connection) => log.connect(connection));
  return log;
}

/** `undefined` without SMTP_URL: mail is off. */
function mailerOf({ smtpUrl, mailFrom }: Config, publicUrl: () => string): Mailer | undefined {
  return smtpUrl === undefined ? undefined : createMailer(smtpUrl, () => mailFrom ?? defaultSender(publicUrl()));
}
