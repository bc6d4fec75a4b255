import type { NatsConnection } from '@nats-io/transport-node';
import type { NatsLink } from './nats-connection.ts';
import type { Channel, ChannelEvents } from './node-bus.ts';

/** A subject of NATS without persistence, which all nodes publish to and subscribe to. */
export class NatsChannel implements Channel {
  readonly #subject: string;
  readonly #events: ChannelEvents;
  #connection: NatsConnection | undefined;
  /** While it is false, NATS would keep what is published and send it late. */
  #isConnected = false;
  #isClosed = false;

  /** `installation` keeps installations apart that share a NATS cluster. */
  constructor(link: NatsLink, installation: string, events: ChannelEvents) {
    this.#subject = `creel.${installation}.notices`;
    this.#events = events;
    void link.ready.then((connection) => this.#use(connection));
  }

  async send(texts: readonly string[]): Promise<void> {
    if (this.#connection === undefined || !this.#isConnected || this.#isClosed) return;
    for (const text of texts) this.#connection.publish(this.#subject, text);
  }

  /** The connection's own pings find a dead server, and it reconnects by itself. */
  revive(): void {
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
