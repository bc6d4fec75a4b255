import pg from 'pg';
import type { PackedCaptures } from '../packed-captures.ts';
import type { CaptureLimits, CaptureOutcome } from '../store.ts';
import { writeBatch } from '../write-captures.ts';
import { CAPTURE_SETTINGS, postgresCaptureStatements } from './capture-statements.ts';
import { assertDurable } from './durability.ts';
import { SESSION_SETTINGS, clientConfig } from './session.ts';
import type { SessionKind } from './session.ts';

/**
 * The connection for captures; it writes one batch at a time. After a lost connection or a failed batch it is closed,
 * which rolls back the transaction, and the next batch opens a new one. So its state is always known.
 */
export class CaptureConnection {
  readonly #url: string;
  readonly #kind: SessionKind;
  #client: pg.Client | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(url: string, kind: SessionKind) {
    this.#url = url;
    this.#kind = kind;
  }

  /** Stores a batch. Rejects when no capture of it is known to be stored. */
  writeCaptures(batch: PackedCaptures, limits: CaptureLimits): Promise<CaptureOutcome> {
    return this.#next(async (client) => {
      const outcome = await writeBatch(postgresCaptureStatements(client, batch.bytes), batch, limits);
      return { ...outcome, recycled: batch.bytes.buffer };
    });
  }

  /** Resolves when captures can be stored durably. @throws StorageProblem when the server does not guarantee it. */
  check(): Promise<void> {
    return this.#next(assertDurable);
  }

  /** Closes the connection after the running batch. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    await this.#client?.end();
    this.#client = undefined;
  }

  #next<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      const client = await this.#connected();
      try {
        return await work(client);
      } catch (error) {
        this.#drop(client);
        throw error;
      }
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #connected(): Promise<pg.Client> {
    if (this.#closed) throw new Error('Storage is closed.');
    if (this.#client !== undefined) return this.#client;
    const client = new pg.Client(clientConfig(this.#url, this.#kind));
    // Between batches no call waits for a result; the next batch opens a new connection.
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    try {
      await client.connect();
      await assertDurable(client);
      await client.query(`${SESSION_SETTINGS}; ${CAPTURE_SETTINGS}`);
    } catch (error) {
      this.#drop(client);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #drop(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined;
    client.end().catch(() => undefined);
  }
}
