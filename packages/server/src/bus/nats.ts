import { connect } from '@nats-io/transport-node';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, ChannelEvents } from './node-bus.ts';

/** Milliseconds between two attempts to connect. */
const RETRY_MS = 250;
/** Milliseconds for one attempt. */
const CONNECT_MS = 1000;
/** A server that misses this many pings, sent at this interval in milliseconds, counts as lost. */
const PING_MS = 1000;
const MAX_MISSED_PINGS = 2;

/**
 * The process's connection to NATS, for notices and for the overflow log. It is opened in the background, so that the
 * server starts without NATS, and it reconnects without a limit.
 */
export class NatsLink {
  readonly #end = new AbortController();
  readonly #ready = Promise.withResolvers<NatsConnection>();
  #connection: NatsConnection | undefined;

  /**
   * `urls`: `nats://[user[:password]@]host[:port]`. The first one's credentials are used for all servers. `onFailure` is
   * called if the first attempt to connect fails.
   */
  constructor(urls: readonly string[], onFailure: (error: unknown) => void) {
    void this.#open(urls, onFailure);
  }

  /** Resolves when the connection is first established. From then on it is the same object for the process's life. */
  get ready(): Promise<NatsConnection> {
    return this.#ready.promise;
  }

  /** The connection, or `undefined` before it is first established. It may be reconnecting. */
  get connection(): NatsConnection | undefined {
    return this.#connection;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#connection?.close();
  }

  async #open(urls: readonly string[], onFailure: (error: unknown) => void): Promise<void> {
    const { signal } = this.#end;
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        const connection = await connect(connectionOptions(urls));
        if (signal.aborted) return await connection.close();
        this.#connection = connection;
        return this.#ready.resolve(connection);
      } catch (error) {
        if (tries === 1) onFailure(error);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }
}

function connectionOptions(urls: readonly string[]): ConnectionOptions {
  const { username, password } = new URL(urls[0] ?? '');
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  return {
    servers: urls.map((url) => new URL(url).host),
    name: 'creel',
    // A URL with a name and no password has a token (https://docs.nats.io/using-nats/developer/connecting/token).
    ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    ignoreAuthErrorAbort: true,
    pingInterval: PING_MS,
    maxPingOut: MAX_MISSED_PINGS,
  };
}

/** A subject of NATS without persistence, which all nodes publish to and subscribe to. */
export class NatsChannel implements Channel {
  readonly #subject: string;
  readonly #events: ChannelEvents;
  #connection: NatsConnection | undefined;
  /** While it is false, NATS would keep notices and send them late. */
  #isConnected = false;
  #isClosed = false;

  /** `installation` keeps installations apart that share a NATS cluster. */
  constructor(link: NatsLink, installation: string, events: ChannelEvents) {
    this.#subject = `creel.${installation}.notices`;
    this.#events = events;
    void link.ready.then((connection) => this.#use(connection));
  }

  async send(texts: readonly string[]): Promise<void> {
    if (this.#connection !== undefined && this.#isConnected && !this.#isClosed)
      for (const text of texts) this.#connection.publish(this.#subject, text);
  }

  /** The connection's own pings find a dead server, and it reconnects by itself. */
  reconnect(): void {
    void this.#connection?.reconnect().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#connection?.flush().catch(() => undefined);
    this.#isClosed = true;
  }

  #use(connection: NatsConnection): void {
    if (this.#isClosed) return;
    this.#connection = connection;
    connection.subscribe(this.#subject, {
      callback: (error, message) => {
        if (error === null && !this.#isClosed) this.#events.onText(message.string());
      },
    });
    this.#opened();
    void this.#watch(connection);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (this.#isClosed) return;
      if (type === 'disconnect') this.#isConnected = false;
      if (type === 'reconnect') this.#opened();
    }
  }

  #opened(): void {
    this.#isConnected = true;
    this.#events.onOpen();
  }
}
