import pg from 'pg';
import { clientConfig, sessionSettings } from '../database/postgres/session.ts';
import type { SessionKind } from '../database/postgres/session.ts';
import type { Channel, ChannelEvents } from './node-bus.ts';

const SESSION: SessionKind = {
  name: 'bus',
  connections: 1,
  statementMs: 2000,
  lockMs: 2000,
  connectMs: 2000,
  lateMs: 1000,
  // A notice needs no sync: its change is already committed.
  isUnsynced: true,
};
const NOTIFY = `select pg_notify('creel', text) from unnest($1::text[]) as text`;
/** Milliseconds before a lost session is replaced. */
const RETRY_MS = 250;

/**
 * LISTEN and NOTIFY, on a separate session and after the commit. Inside the transactions that write captures, NOTIFY
 * would serialize their commits over all nodes (docs/decisions/0020-bus.md).
 */
export class PostgresChannel implements Channel {
  readonly #url: string;
  readonly #events: ChannelEvents;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: string, events: ChannelEvents) {
    this.#url = url;
    this.#events = events;
    this.#connect();
  }

  async send(texts: readonly string[]): Promise<void> {
    await this.#client?.query({ name: 'notify', text: NOTIFY, values: [texts] });
  }

  reconnect(): void {
    if (this.#client !== undefined) this.#reconnectAfter(this.#client);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  #connect(): void {
    const client = new pg.Client(clientConfig(this.#url, SESSION));
    const lost = (): void => this.#reconnectAfter(client);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      if (payload !== undefined) this.#events.onText(payload);
    });
    this.#client = client;
    client
      .connect()
      .then(() => client.query(`${sessionSettings(SESSION)}; listen creel`))
      .then(() => {
        if (this.#client === client) this.#events.onOpen();
      }, lost);
  }

  /** Drops a session once, and connects again soon. */
  #reconnectAfter(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.end().catch(() => undefined);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#connect(), RETRY_MS);
    this.#timer.unref();
  }
}
