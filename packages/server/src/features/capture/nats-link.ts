import { connect } from '@nats-io/transport-node';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two attempts to connect. */
const RETRY_MS = 250;
/** Milliseconds for one attempt. */
const CONNECT_MS = 1000;
/** A server that misses this many pings, sent at this interval in milliseconds, counts as lost. */
const PING_MS = 1000;
const MAX_MISSED_PINGS = 2;

export interface NatsOptions {
  /** `nats://[user[:password]@]host[:port]`. The first URL's credentials are used for all servers. */
  readonly urls: readonly string[];
  /** Called with the first failed attempt to connect. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The process's connection to NATS, for the overflow log. It is opened in the background, so that the server starts
 * without NATS, and it reconnects without a limit.
 */
export class NatsLink {
  readonly #options: NatsOptions;
  readonly #end = new AbortController();
  #connection: NatsConnection | undefined;

  constructor(options: NatsOptions) {
    this.#options = options;
    void this.#open();
  }

  /** The connection, or `undefined` before it is first established. From then on it is the same, also while it reconnects. */
  get connection(): NatsConnection | undefined {
    return this.#connection;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#connection?.close();
  }

  async #open(): Promise<void> {
    const { signal } = this.#end;
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        const connection = await connect(connectionOptions(this.#options.urls));
        if (signal.aborted) return await connection.close();
        this.#connection = connection;
        return;
      } catch (error) {
        if (tries === 1) this.#options.onFailure(error);
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
