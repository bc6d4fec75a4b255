import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RequestListener, Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { clientAddressReader } from './http/client-address.ts';
import { createApiServer } from './http/api-server.ts';
import type { Routes, OperationalSources } from './http/api-server.ts';
import { Searches } from './features/search/service.ts';
import { createLiveUpgrade, isLiveUpgrade } from './features/live/upgrade.ts';
import { findLiveDeliveries, composePausedNotice } from './features/deliveries/present-delivery.ts';
import { presentEndpointDetail } from './features/endpoints/service.ts';
import { createAccounts } from './features/accounts/service.ts';
import type { Accounts } from './features/accounts/service.ts';
import { Passwords } from './features/accounts/passwords.ts';
import { localBus } from './bus/bus.ts';
import type { Bus } from './bus/bus.ts';
import { NatsChannel, NatsLink } from './bus/nats.ts';
import { NodeBus } from './bus/node-bus.ts';
import { PostgresChannel } from './bus/postgres-channel.ts';
import type { AppContext } from './app-context.ts';
import { IntervalJob } from './workers/background.ts';
import { KEEP_ALIVE_MS } from './http/raw-response.ts';
import { OverflowLog } from './features/capture/overflow-log.ts';
import { createCaptureService } from './features/capture/service.ts';
import type { CaptureService } from './features/capture/service.ts';
import type { Config } from './config.ts';
import { Connections, maxConnections } from './http/connections.ts';
import { Deliveries } from './features/deliveries/service.ts';
import { createBilling } from './features/billing/service.ts';
import { composeSubscriptionNotice } from './features/billing/notices.ts';
import {
  createListener,
  serveRequests,
  LISTENER_TIMEOUTS,
  handleUpgrades,
  originOf,
  portOf,
  createDispatch,
} from './http/listener.ts';
import type { ListenerTimeouts } from './http/listener.ts';
import { LoopTurns } from './http/loop-turns.ts';
import { Live } from './features/live/service.ts';
import type { Logger } from './log.ts';
import { sendOutbox, createMailer, defaultSender } from './features/mail/service.ts';
import type { Mailer } from './features/mail/service.ts';
import { createMetrics } from './metrics.ts';
import { createSignatures } from './features/signatures/service.ts';
import { Replays } from './features/replay/service.ts';
import type { ReplayOptions } from './features/replay/service.ts';
import { openPostgresStore } from './database/postgres/postgres-store.ts';
import { watchDisk } from './database/sqlite/disk-log.ts';
import { openSqliteStore } from './database/sqlite/sqlite-store.ts';
import { QUERIES } from './queries.ts';
import type { AppStore } from './queries.ts';
import { FINDERS, HANDLERS, VERSION } from './routes.ts';
import { registerProviderRoutes } from './features/accounts/provider-routes.ts';
import { isCaptureTarget } from './features/capture/capture-handler.ts';
import { composeExpiryNotice, noticeExpiry, runMaintenance } from './features/jobs/service.ts';

/** Milliseconds for open requests to finish after a stop signal, and then for their background work. */
const STOP_MS = 8000;
const BACKGROUND_MS = 500;
/** Milliseconds for load balancers to notice that the server stops. Requests on open connections are still answered. */
const DRAIN_MS = 1000;

/** Maximum number of open connections. Each costs a file descriptor and about 10 KiB. */
const MAX_CONNECTIONS = 10_000;

export interface RunningServer {
  /** The public URL, for links and capture URLs. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** Finishes open requests, writes queued captures, and closes storage. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly store: AppStore;
  readonly log: Logger;
  /** Log lines that could not be written since the start. */
  readonly lostLogLines?: () => number;
  readonly now?: () => number;
  /** Defaults to OWASP's cost. */
  readonly passwords?: Passwords;
  readonly timeouts?: Partial<ListenerTimeouts>;
  /** Overrides how replays are sent and how long they may take. */
  readonly replay?: Partial<Pick<ReplayOptions, 'sendRequest' | 'maxMs' | 'lookUp'>> | undefined;
  /** Overrides how nodes are connected. */
  readonly bus?: Bus | undefined;
  /** Milliseconds between two pings of a live connection. */
  readonly livePingMs?: number | undefined;
  /** Milliseconds between a stop and the end of idle connections. */
  readonly drainMs?: number | undefined;
}

/** Where the build puts the web app, seen from this file and from its bundle. */
const WEB_ROOT = fileURLToPath(new URL('../../web/dist', import.meta.url));

const ROUTES: Routes = {
  handlers: HANDLERS,
  finders: FINDERS,
  registerOthers: registerProviderRoutes,
  webRoot: WEB_ROOT,
};

/**
 * Opens PostgreSQL by its URL, or the SQLite file in the data folder. Calls `onTablesInUse` if an update of the schema
 * of PostgreSQL waits for other sessions. @throws StorageProblem
 */
export function openStore(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  onTablesInUse?: () => void,
): Promise<AppStore> {
  if (databaseUrl === undefined) return openSqliteStore(dataDir, QUERIES);
  return openPostgresStore(databaseUrl, QUERIES, undefined, onTablesInUse);
}

/** Starts the whole server. Resolves when it listens; throws what `listen` throws. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, store, log, lostLogLines = () => 0, now = Date.now, passwords = new Passwords() } = options;
  const stopping = new AbortController();
  const listener = createListener(isLiveUpgrade, { ...LISTENER_TIMEOUTS, ...options.timeouts });
  const publicUrl = (): string => config.publicUrl ?? originOf(config.host, listener);
  const metrics = createMetrics(lostLogLines);
  const nats = natsOf(options);
  const bus = options.bus ?? (await openBus(options, nats));
  const live = createLive(options, bus, now, publicUrl);
  const overflowLog = nats && (await overflowLogOf(options, nats));
  const mailer = mailerOf(config, publicUrl);
  const replays = replaysOf(options, now, publicUrl);
  const signatures = await createSignatures(store, log, now);
  const clientAddressOf = clientAddressReader(config.trustProxy);
  const shared = { config, clientAddressOf, store, live, metrics, mailer, publicUrl, log, now };
  const deliveries = await Deliveries.create({ ...shared, bus, replays, signatures });
  const capture = createCaptureService({ ...shared, bus, overflowLog, deliveries });
  metrics.watch({ freeDiskBytes: watchDisk(store, log), store, live, capture, bus, passwords });
  const accounts = await createAccounts({ ...shared, passwords });
  const isDrained = (): boolean => capture.overflow?.isDrained ?? true;
  const maintenance = new IntervalJob('maintenance', () => runMaintenance({ ...shared, isDrained }), log);
  const purgeSoon = (): void => maintenance.wake();
  const searches = new Searches(store, now);
  const services = { accounts, searches, replays, deliveries, signatures, billing: createBilling(config, shared) };
  const app: AppContext = { ...shared, ...services, purgeSoon };
  const sources = { metrics: metrics.registry, stopping: stopping.signal, checkReady: capture.checkReady };
  await capture.overflow?.start();
  const { api, connections } = await listen(listener, options, app, { capture, sources });
  const jobs = [maintenance, ...otherJobs(app)];
  for (const each of jobs) each.start();
  deliveries.start();

  const work = [...jobs, deliveries];
  const stop = async (): Promise<void> => {
    stopping.abort();
    live.close();
    await stopAll({ connections, work, capture, accounts, api, bus, drainMs: options.drainMs });
    await Promise.all([store.close(), replays.close(), nats?.close()]);
  };
  let stopped: Promise<void> | undefined;
  return { url: publicUrl(), port: portOf(listener), stop: () => (stopped ??= stop()) };
}

interface Running {
  readonly connections: Connections;
  /** Background work that may take up to `maxMs` to finish. */
  readonly work: readonly { stop(maxMs: number): Promise<void> }[];
  readonly capture: CaptureService;
  readonly accounts: Accounts;
  readonly api: FastifyInstance;
  readonly bus: Bus;
  readonly drainMs: number | undefined;
}

/** Shuts down in the reverse order of dependencies, so that running requests keep everything they use. */
async function stopAll({ connections, work, capture, accounts, api, bus, drainMs }: Running): Promise<void> {
  const until = performance.now() + STOP_MS;
  // From now on `/readyz` fails and every response closes its connection, so balancers choose another node.
  await sleep(drainMs ?? DRAIN_MS);
  const restMs = until - performance.now();
  await Promise.all([connections.close(restMs), ...work.map((each) => each.stop(restMs))]);
  // Aborted senders no longer wait, but captures that arrived completely are still stored.
  await capture.writer.drain();
  await capture.overflow?.close();
  await accounts.links.ended(Math.max(until - performance.now(), BACKGROUND_MS));
  await api.close();
  await bus.close();
}

/** Connects the listener with the capture path, the API and the live connections. Resolves when it listens. */
async function listen(
  listener: Server,
  options: ServerOptions,
  app: AppContext,
  { capture, sources }: { capture: CaptureService; sources: OperationalSources },
): Promise<{ api: FastifyInstance; connections: Connections }> {
  const turns = new LoopTurns();
  const { stopping } = sources;
  const { headersMs, requestMs } = { ...LISTENER_TIMEOUTS, ...options.timeouts };
  const limit = await maxConnections(MAX_CONNECTIONS);
  if (limit < MAX_CONNECTIONS)
    options.log.warn(
      `The server may open too few files: it accepts ${limit} ${limit === 1 ? 'connection' : 'connections'} at once. Raise its limit of open files to 12,000 (ulimit -n, or LimitNOFILE in systemd).`,
    );
  const connections = new Connections(listener, {
    admit: capture.admitPlain,
    turns,
    stopping,
    silenceMs: headersMs,
    keepAliveMs: KEEP_ALIVE_MS,
    bodyMs: requestMs,
    maxConnections: limit,
  });
  const serverFactory = (everythingElse: RequestListener): Server => {
    const targets = { isCapture: isCaptureTarget, capture: capture.handle, everythingElse };
    serveRequests(listener, createDispatch(targets, turns), stopping);
    return listener;
  };
  const api = await createApiServer(app, serverFactory, sources, ROUTES);
  const upgrade = createLiveUpgrade(app, (header) => api.parseCookie(header));
  handleUpgrades(listener, upgrade);
  await api.ready();
  await connections.listen(options.config);
  return { api, connections };
}

/** Jobs besides maintenance. Without a mail server, no job writes or claims notices, so a later one can send them. */
function otherJobs({ store, config, log, now, publicUrl, mailer, billing }: AppContext): IntervalJob[] {
  const jobs: IntervalJob[] = [];
  if (billing !== undefined)
    jobs.push(new IntervalJob('reading subscriptions', (signal) => billing.sync.reconcile(signal), log));
  if (mailer !== undefined) {
    const composers = [composeSubscriptionNotice, composePausedNotice, composeExpiryNotice({ store, config, now })];
    const options = { store, mailer, publicUrl, log, composers };
    const send = async (signal: AbortSignal): Promise<boolean> => {
      const hasMore = await noticeExpiry(store, now);
      return (await sendOutbox(options, signal)) || hasMore;
    };
    jobs.push(new IntervalJob('sending notices', send, log));
  }
  return jobs;
}

function createLive(
  { config, store, log, livePingMs }: ServerOptions,
  bus: Bus,
  now: () => number,
  publicUrl: () => string,
): Live {
  return new Live({
    store,
    describeEndpoint: async (uid) => {
      const detail = await store.findEndpointDetail(uid);
      if (detail === undefined) return undefined;
      return { type: 'endpoint', data: presentEndpointDetail(detail, publicUrl(), config) };
    },
    findDeliveries: (endpointId, deliveries) => findLiveDeliveries(store, endpointId, deliveries),
    bus,
    now,
    onFailure: (error) => log.error({ err: error }, 'the live view failed'),
    pingMs: livePingMs,
  });
}

/** Replays identify this server in their user agent. */
function replaysOf({ config, log, replay }: ServerOptions, now: () => number, publicUrl: () => string): Replays {
  const userAgent = (): string => `Creel/${VERSION} (+${publicUrl()})`;
  const onThreadCrash = (error: Error): void =>
    log.error(
      { err: error },
      'the thread that sends replays and deliveries ended; the next request starts another one',
    );
  return new Replays({ allowPrivate: config.allowPrivateTargets, now, userAgent, onThreadCrash, ...replay });
}

/** `undefined` without NATS_URL. */
function natsOf({ config, log }: ServerOptions): NatsLink | undefined {
  if (config.natsUrls.length === 0) return undefined;
  const onFailure = (error: unknown): void =>
    log.error({ err: error }, 'NATS could not be reached; the server tries again');
  return new NatsLink(config.natsUrls, onFailure);
}

/** The name of this installation, because others may use the same NATS cluster. It is stored in the database. */
function installationOf(store: AppStore): Promise<string> {
  return store.findOrCreateSecret('installation', randomBytes(8).toString('hex'));
}

/** Opens the bus, and waits up to two seconds until it works and knows the other nodes. SQLite has only one node. */
async function openBus({ config: { databaseUrl }, store }: ServerOptions, nats: NatsLink | undefined): Promise<Bus> {
  if (databaseUrl === undefined) return localBus;
  const installation = await installationOf(store);
  const bus = new NodeBus((events) =>
    nats === undefined ? new PostgresChannel(databaseUrl, events) : new NatsChannel(nats, installation, events),
  );
  await bus.started();
  return bus;
}

/** Replicas of the overflow log, unless the cluster has fewer servers. */
const MAX_REPLICAS = 3;

async function overflowLogOf({ config, store, log }: ServerOptions, nats: NatsLink): Promise<OverflowLog> {
  const name = await installationOf(store);
  const replicas = Math.min(MAX_REPLICAS, config.natsUrls.length);
  return new OverflowLog({
    name,
    replicas,
    maxBytes: config.overflowMaxBytes,
    connection: () => nats.connection,
    onLost: () => log.error('NATS has lost the overflow log and the captures in it; the server creates a new log'),
  });
}

/** `undefined` without SMTP_URL: mail is off. */
function mailerOf({ smtpUrl, mailFrom }: Config, publicUrl: () => string): Mailer | undefined {
  return smtpUrl === undefined ? undefined : createMailer(smtpUrl, () => mailFrom ?? defaultSender(publicUrl()));
}
