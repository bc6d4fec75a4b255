import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import type {
  Consumer,
  JetStreamClient,
  JetStreamManager,
  JetStreamPublishOptions,
  JsMsg,
  StoredMsg,
} from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { decodeBatch, encodeBatch } from '../../database/packed-captures.ts';
import type { PackedCaptures } from '../../database/packed-captures.ts';
import { StorageUnavailable } from '../../database/storage-problem.ts';
import { within } from '../../limits/within.ts';

/** Milliseconds after which a batch that a node took and did not finish goes to another node. */
const ACK_WAIT_MS = 5000;
/** Milliseconds that one look for a batch waits. */
const NEXT_MS = 1000;
/** Milliseconds for a call of JetStream's API. */
const CALL_MS = 1000;
/** Milliseconds for one attempt to add a message, and between two attempts. */
const PUBLISH_MS = 700;
const RETRY_MS = 50;
const NANOS_PER_MS = 1_000_000;
/** JetStream recognizes a repeated batch for this long. After that only the database does. */
const DUPLICATE_WINDOW_MS = 120_000;
/** A message needs this much beside its payload, for subject and headers. */
const MESSAGE_OVERHEAD_BYTES = 4096;
/** Parts of a batch that was never completed are deleted after this many milliseconds. */
const ORPHAN_MS = 60_000;
/** JetStream's error codes of a full stream: maximum bytes, and storage of the server. */
const FULL_CODES: ReadonlySet<number> = new Set([10_023, 10_047, 10_077]);
/** JetStream's error codes of a stream or a consumer that does not exist. */
const MISSING_CODES: ReadonlySet<number> = new Set([
  JetStreamApiCodes.StreamNotFound,
  JetStreamApiCodes.ConsumerNotFound,
]);
/** The most batches, and their bytes, that are taken together with the oldest one. */
const MAX_FOLLOWING = 127;
const MAX_FOLLOWING_BYTES = 4 * 1024 * 1024;
const PART_HEADER = 'creel-parts';
const CONSUMER = 'drain';

/** A position in the log, which only grows. */
export type LogPosition = number;

export interface LogState {
  /** Messages in the log: batches, and parts of large ones. */
  readonly messages: number;
  readonly bytes: number;
  /** The batches up to this position are in the database. */
  readonly drainedTo: LogPosition;
  /** No batch is after this position. */
  readonly lastPosition: LogPosition;
}

/** NATS was reached and has no JetStream, so there is no log. */
export class NoOverflowLog extends StorageUnavailable {}

/** The oldest batches, which this node took from the log. No other node gets any meanwhile. */
export interface LoggedBatches {
  readonly batches: readonly PackedCaptures[];
  /** They are in the database: removes them from the log. */
  readonly done: () => Promise<void>;
  /** Gives them back, for the next attempt of any node. */
  readonly giveBack: () => void;
}

export interface OverflowLogOptions {
  /** Distinguishes installations that share a NATS cluster. Letters and digits. */
  readonly name: string;
  readonly replicas: number;
  readonly maxBytes: number;
  /** The connection to NATS; `undefined` before it is first established. */
  readonly connection: () => NatsConnection | undefined;
}

interface Opened {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly consumer: Consumer;
}

/**
 * The overflow log: a JetStream stream on disk with one message per batch, in order. A batch that exceeds the server's
 * payload limit is split; its parts come first, and the last message completes it. One consumer with one unacknowledged
 * message serves all nodes, so only one of them drains at a time.
 */
export class OverflowLog {
  readonly #options: OverflowLogOptions;
  readonly #stream: string;
  readonly #batches: string;
  readonly #parts: string;
  #opened: Promise<Opened> | undefined;
  #isFull = false;
  /** The log's size when it was found full. */
  #fullBytes: number | undefined;
  #orphans = { upTo: 0, seenAt: 0 };

  constructor(options: OverflowLogOptions) {
    this.#options = options;
    this.#stream = `creel-overflow-${options.name}`;
    this.#batches = `creel.${options.name}.overflow.batch`;
    this.#parts = `creel.${options.name}.overflow.part`;
  }

  /** A batch did not fit, and the log was not emptied since. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * Adds a batch. Resolves when the log's replicas have it. A repeated batch is added once. @throws StorageUnavailable
   * when the log is full or does not answer within `withinMs` milliseconds; it may then be in the log nevertheless.
   */
  async append(batch: PackedCaptures, withinMs: number): Promise<LogPosition> {
    const deadline = performance.now() + withinMs;
    try {
      const { client, connection } = await within(withinMs, this.#open(), noAnswer);
      const encoded = encodeBatch(batch);
      const maxBytes = (connection.info?.max_payload ?? 1024 * 1024) - MESSAGE_OVERHEAD_BYTES;
      const parts: LogPosition[] = [];
      const publish = (subject: string, id: string, data: Uint8Array): Promise<LogPosition> =>
        publishUntil(deadline, client, subject, data, { msgID: id, headers: partHeaders(parts) });
      let from = 0;
      for (; encoded.length - from > maxBytes; from += maxBytes)
        parts.push(await publish(this.#parts, `${batch.id}.${from}`, encoded.subarray(from, from + maxBytes)));
      const position = await publish(this.#batches, batch.id, encoded.subarray(from));
      this.#isFull = false;
      return position;
    } catch (error) {
      if (!this.#isFull) this.#fullBytes = undefined;
      this.#isFull = isFull(error);
      throw new StorageUnavailable(this.#isFull ? 'The overflow log is full.' : 'The overflow log did not answer.', {
        cause: error,
      });
    }
  }

  /** Takes the oldest batches. `undefined` when there are none, or another node has them. @throws UnreadableBatch */
  async next(): Promise<LoggedBatches | undefined> {
    const { consumer, manager } = await this.#open();
    const message = await consumer.next({ expires: NEXT_MS });
    if (message === null) return undefined;
    try {
      const parts = partsOf(message.headers);
      const pieces: Uint8Array[] = [];
      for (const seq of parts) pieces.push((await manager.streams.getMessage(this.#stream, { seq }))?.data ?? EMPTY);
      const first = decodeBatch(Buffer.concat([...pieces, message.data]));
      const following = parts.length > 0 ? [] : await this.#following(manager, message);
      return {
        batches: [first, ...following.map(({ data }) => decodeBatch(data))],
        done: async () => {
          const remove = (seq: LogPosition) => manager.streams.deleteMessage(this.#stream, seq, false);
          await Promise.all(following.map(({ seq }) => remove(seq)));
          await message.ackAck({ timeout: CALL_MS });
          for (const seq of parts) await remove(seq);
        },
        giveBack: () => message.nak(),
      };
    } catch (error) {
      message.nak(CALL_MS);
      throw error;
    }
  }

  /**
   * Reads the batches after the one that this node took, so that a long log is drained quickly. The consumer gives them
   * to no node before that one is done. Ends before a batch in parts and before what could not be read.
   */
  async #following(manager: JetStreamManager, { seq, info }: JsMsg): Promise<StoredMsg[]> {
    const seqs = Array.from({ length: Math.min(info.pending, MAX_FOLLOWING) }, (_, nth) => seq + 1 + nth);
    const read = (one: LogPosition): Promise<StoredMsg | null | undefined> =>
      manager.streams.getMessage(this.#stream, { seq: one }).catch(() => undefined);
    const batches: StoredMsg[] = [];
    let bytes = 0;
    for (const message of await Promise.all(seqs.map(read))) {
      // Null: there is none, or the server that answers does not have it yet.
      if (message === null || message === undefined) break;
      // A part belongs to a later batch.
      if (message.subject === this.#parts) continue;
      if (partsOf(message.header).length > 0) break;
      bytes += message.data.length;
      if (bytes > MAX_FOLLOWING_BYTES) break;
      batches.push(message);
    }
    return batches;
  }

  /**
   * Messages are not counted by subject: before 2.10.18, nats-server can count none after the first file of the stream
   * was removed. @throws NoOverflowLog, or Error when NATS does not answer
   */
  async state(): Promise<LogState> {
    const { consumer, manager } = await this.#open();
    const [{ state }, { ack_floor: floor }] = await Promise.all([manager.streams.info(this.#stream), consumer.info()]);
    const { messages, bytes, first_seq: first, last_seq: last } = state;
    await this.#deleteOrphans(manager, messages === 0 ? 0 : last);
    if (this.#isFull && bytes < (this.#fullBytes ??= bytes)) this.#isFull = false;
    // A batch leaves the stream when it is done. The consumer's own position may be older after a server was killed.
    const removedTo = messages === 0 ? last : first - 1;
    return { messages, bytes, drainedTo: Math.max(floor.stream_seq, removedTo), lastPosition: last };
  }

  /**
   * A node that ended between two parts of a batch leaves parts that nobody takes. Parts that were in the log a minute
   * ago are deleted when it has no batch.
   */
  async #deleteOrphans(manager: JetStreamManager, upTo: LogPosition): Promise<void> {
    const { upTo: seen, seenAt } = this.#orphans;
    const now = performance.now();
    if (seen > 0 && upTo > 0 && now - seenAt < ORPHAN_MS) return;
    this.#orphans = { upTo, seenAt: now };
    if (seen === 0 || upTo === 0) return;
    const query = { seq: 1, next_by_subj: this.#batches };
    const oldest = await manager.streams.getMessage(this.#stream, query);
    if (oldest === null) await manager.streams.purge(this.#stream, { filter: this.#parts, seq: seen + 1 });
  }

  /** Creates what is missing. Tried again by the next call after a failure. */
  #open(): Promise<Opened> {
    this.#opened ??= this.#create().catch((error: unknown) => {
      this.#opened = undefined;
      throw isNotEnabled(error) ? new NoOverflowLog('NATS has no JetStream.', { cause: error }) : error;
    });
    return this.#opened;
  }

  async #create(): Promise<Opened> {
    const connection = this.#options.connection();
    if (connection === undefined) throw new StorageUnavailable('NATS was not reached yet.');
    const manager = await jetstreamManager(connection, { timeout: CALL_MS });
    const { replicas, maxBytes } = this.#options;
    const changeable = { subjects: [this.#batches, this.#parts], num_replicas: replicas, max_bytes: maxBytes };
    const stream = {
      ...changeable,
      name: this.#stream,
      storage: StorageType.File,
      retention: RetentionPolicy.Workqueue,
      discard: DiscardPolicy.New,
      duplicate_window: DUPLICATE_WINDOW_MS * NANOS_PER_MS,
    };
    const present = await manager.streams.info(this.#stream).catch(undefinedIfMissing);
    // Several nodes may create it at once; with equal settings all of them succeed.
    if (present === undefined)
      await manager.streams.add(stream).catch(() => manager.streams.update(this.#stream, changeable));
    else if (present.config.num_replicas !== replicas || present.config.max_bytes !== maxBytes)
      await manager.streams.update(this.#stream, changeable);
    const client = jetstream(connection, { timeout: CALL_MS });
    const existing = await client.consumers.get(this.#stream, CONSUMER).catch(undefinedIfMissing);
    if (existing !== undefined) return { connection, client, manager, consumer: existing };
    await manager.consumers.add(this.#stream, {
      durable_name: CONSUMER,
      filter_subject: this.#batches,
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
      max_ack_pending: 1,
    });
    return { connection, client, manager, consumer: await client.consumers.get(this.#stream, CONSUMER) };
  }
}

const EMPTY = new Uint8Array();

/** Repeats after a lost answer, as while the cluster elects a leader. The message id keeps it from being added twice. */
async function publishUntil(
  deadline: number,
  client: JetStreamClient,
  subject: string,
  data: Uint8Array,
  options: Partial<JetStreamPublishOptions>,
): Promise<LogPosition> {
  for (;;) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) throw noAnswer();
    try {
      const { seq } = await client.publish(subject, data, { ...options, timeout: Math.min(PUBLISH_MS, leftMs) });
      // nats-server 2.10 answers a repeated message with 0 while the first one is not replicated yet.
      if (seq === 0) throw noAnswer();
      return seq;
    } catch (error) {
      if (isFull(error) || performance.now() + RETRY_MS >= deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
}

const partsSchema = z.array(z.int().positive());

/** The positions of a batch's earlier parts. */
function partHeaders(parts: readonly LogPosition[]): MsgHdrs {
  const all = headers();
  if (parts.length > 0) all.set(PART_HEADER, JSON.stringify(parts));
  return all;
}

function partsOf(all: MsgHdrs | undefined): readonly LogPosition[] {
  const value = all?.get(PART_HEADER);
  return value ? partsSchema.parse(JSON.parse(value)) : [];
}

/** For calls that look for a stream or a consumer. Other errors do not mean that it is missing. */
function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof JetStreamApiError && MISSING_CODES.has(error.code)) return undefined;
  throw error;
}

/** The client does not export the class. It throws it when no server of the cluster answers calls of JetStream. */
function isNotEnabled(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}

function noAnswer(): StorageUnavailable {
  return new StorageUnavailable('The overflow log did not answer.');
}

function isFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && FULL_CODES.has(error.code);
}
