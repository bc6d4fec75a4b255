import { JetStreamApiError } from '@nats-io/jetstream';
import type {
  JetStreamClient,
  JetStreamManager,
  JetStreamPublishOptions,
  StoredMsg,
  StreamState,
} from '@nats-io/jetstream';
import { TimeoutError, headers } from '@nats-io/transport-node';
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { decodeBatch, encodeBatch } from '../../database/packed-captures.ts';
import type { PackedCaptures } from '../../database/packed-captures.ts';
import { StorageUnavailable } from '../../database/store.ts';
import { withTimeout } from '../../limits/timeouts.ts';
import { SilentOverflowLog, isMissing, openStream } from './overflow-stream.ts';
import type { OpenedStream } from './overflow-stream.ts';

/** Milliseconds for one attempt to add a message, and between two attempts. */
const PUBLISH_MS = 700;
const RETRY_MS = 50;
/** A message needs this much beside its payload, for subject and headers. */
const MESSAGE_OVERHEAD_BYTES = 4096;
/** Parts of a batch that was never completed are deleted after this many milliseconds. */
const ORPHAN_MS = 60_000;
/** JetStream's error codes of a full stream: maximum bytes, and storage of the server. */
const FULL_CODES: ReadonlySet<number> = new Set([10_023, 10_047, 10_077]);
/** The most batches, and their bytes, that are read together with the oldest one. */
const MAX_FOLLOWING = 127;
const MAX_FOLLOWING_BYTES = 4 * 1024 * 1024;
/** Few, because each answer has a second to arrive, and all of them share the link. */
const MAX_READS_AT_ONCE = 4;
const PART_HEADER = 'creel-parts';

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

/** The oldest batches of the log, in order. Other nodes may read and store the same ones. */
export interface LoggedBatches {
  readonly batches: readonly PackedCaptures[];
  /** Removes them from the log, because they are in the database. */
  readonly done: () => Promise<void>;
}

export interface OverflowLogOptions {
  /** Distinguishes installations that share a NATS cluster. Letters and digits. */
  readonly name: string;
  readonly replicas: number;
  readonly maxBytes: number;
  /** The connection to NATS; `undefined` before it is first established. */
  readonly connection: () => NatsConnection | undefined;
  /** Called when NATS has lost the log, with the batches in it. */
  readonly onLost?: () => void;
}

/**
 * The overflow log: a JetStream stream on disk with one message per batch, in order. A batch that exceeds the server's
 * payload limit is split into parts, and the last message completes it. A batch leaves the stream when it is stored. So
 * the oldest one is the next to store.
 */
export class OverflowLog {
  readonly #options: OverflowLogOptions;
  readonly #stream: string;
  readonly #batches: string;
  readonly #parts: string;
  #opened: Promise<OpenedStream> | undefined;
  #isFull = false;
  /** The log's size when it was found full. */
  #fullBytes: number | undefined;
  /** There was no batch up to this position at the last search for one. */
  #drainedTo: LogPosition = 0;
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
      const { client, connection } = await withTimeout(withinMs, this.#open(), () => noAnswer());
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
      // nats-server may assign positions again after it was killed.
      this.#drainedTo = Math.min(this.#drainedTo, position - 1);
      return position;
    } catch (error) {
      if (!this.#isFull) this.#fullBytes = undefined;
      this.#isFull = isFull(error);
      throw new StorageUnavailable(this.#isFull ? 'The overflow log is full.' : 'The overflow log did not answer.', {
        cause: error,
      });
    }
  }

  /** Reads the oldest batches, if any. @throws SilentOverflowLog, or Error for a batch that can't be read */
  next(): Promise<LoggedBatches | undefined> {
    return orSilent(this.#next());
  }

  async #next(): Promise<LoggedBatches | undefined> {
    const { manager } = await this.#open();
    const { last_seq: last } = await this.#streamState(manager);
    const oldest = await this.#readOldest(manager);
    this.#drainedTo = oldest === null ? last : oldest.seq - 1;
    if (oldest === null) return undefined;
    const parts = partsOf(oldest.header);
    const pieces: (StoredMsg | null)[] = [];
    for await (const piece of this.#read(manager, parts)) pieces.push(piece);
    // Another node stored the batch and removed it with its parts.
    if (pieces.includes(null) && (await this.#readOldest(manager))?.seq !== oldest.seq) return undefined;
    const first = decodeBatch(Buffer.concat([...pieces.map((piece) => piece?.data ?? EMPTY), oldest.data]));
    const following = parts.length > 0 ? [] : await this.#readFollowing(manager, oldest.seq, last);
    const remove = (seqs: readonly LogPosition[]): Promise<unknown> =>
      orSilent(
        Promise.all(seqs.map((seq) => manager.streams.deleteMessage(this.#stream, seq, false).catch(ignoreIfRemoved))),
      );
    return {
      batches: [first, ...following.map(({ data }) => decodeBatch(data))],
      done: async () => {
        await remove([oldest, ...following].map(({ seq }) => seq));
        // Last, so that a batch in the log always has its parts.
        await remove(parts);
      },
    };
  }

  #readOldest(manager: JetStreamManager): Promise<StoredMsg | null> {
    // The client's type of a query does not have next_by_subj.
    const query = { seq: 1, next_by_subj: this.#batches };
    return manager.streams.getMessage(this.#stream, query);
  }

  /** Reads messages in order. Null: another node removed it, or the server that answers does not have it yet. */
  async *#read(manager: JetStreamManager, seqs: readonly LogPosition[]): AsyncGenerator<StoredMsg | null> {
    for (let from = 0; from < seqs.length; from += MAX_READS_AT_ONCE) {
      const some = seqs.slice(from, from + MAX_READS_AT_ONCE);
      yield* await Promise.all(some.map((seq) => manager.streams.getMessage(this.#stream, { seq })));
    }
  }

  /**
   * Reads the batches after the oldest one, so that a long log is drained quickly. Ends before a batch in parts and
   * before what could not be read.
   */
  async #readFollowing(manager: JetStreamManager, oldest: LogPosition, last: LogPosition): Promise<StoredMsg[]> {
    const count = Math.max(0, Math.min(last - oldest, MAX_FOLLOWING));
    const seqs = Array.from({ length: count }, (_, nth) => oldest + 1 + nth);
    const batches: StoredMsg[] = [];
    let bytes = 0;
    try {
      for await (const message of this.#read(manager, seqs)) {
        if (message === null) break;
        // A part belongs to a later batch.
        if (message.subject === this.#parts) continue;
        if (partsOf(message.header).length > 0) break;
        bytes += message.data.length;
        if (bytes > MAX_FOLLOWING_BYTES) break;
        batches.push(message);
      }
    } catch {
      // The next search for batches reports it.
    }
    return batches;
  }

  /**
   * Messages are not counted by subject: before 2.10.18, nats-server can count none after the first file of the stream
   * was removed. @throws NoOverflowLog, SilentOverflowLog
   */
  state(): Promise<LogState> {
    return orSilent(this.#state());
  }

  async #state(): Promise<LogState> {
    const { manager } = await this.#open();
    const { messages, bytes, first_seq: first, last_seq: last } = await this.#streamState(manager);
    await this.#deleteOrphans(manager, messages === 0 ? 0 : last);
    if (messages === 0 || bytes < (this.#fullBytes ??= bytes)) this.#isFull = false;
    const removedTo = messages === 0 ? last : first - 1;
    // Parts of a batch that was never completed may be before the oldest batch.
    const drainedTo = Math.max(removedTo, Math.min(this.#drainedTo, last));
    return { messages, bytes, drainedTo, lastPosition: last };
  }

  /** Without the stream, as after NATS has lost its disk, the next call creates it again. Batches in it are lost. */
  async #streamState(manager: JetStreamManager): Promise<StreamState> {
    try {
      return (await manager.streams.info(this.#stream)).state;
    } catch (error) {
      if (isMissing(error) && this.#opened !== undefined) {
        this.#opened = undefined;
        this.#options.onLost?.();
      }
      throw error;
    }
  }

  /**
   * Deletes parts of batches that no node completed, because their node ended. When the log has no batch, parts that
   * were in it a minute ago are orphans.
   */
  async #deleteOrphans(manager: JetStreamManager, upTo: LogPosition): Promise<void> {
    const { upTo: seen, seenAt } = this.#orphans;
    const now = performance.now();
    if (seen > 0 && upTo > 0 && now - seenAt < ORPHAN_MS) return;
    this.#orphans = { upTo, seenAt: now };
    if (seen === 0 || upTo === 0) return;
    if ((await this.#readOldest(manager)) === null)
      await manager.streams.purge(this.#stream, { filter: this.#parts, seq: seen + 1 });
  }

  /** Creates the stream if it is missing. Tried again by the next call after a failure. */
  #open(): Promise<OpenedStream> {
    const { connection, replicas, maxBytes } = this.#options;
    const stream = { name: this.#stream, subjects: [this.#batches, this.#parts], replicas, maxBytes };
    this.#opened ??= orSilent(openStream(connection(), stream)).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }
}

const EMPTY = new Uint8Array();

/**
 * Tries again after a lost answer, for example while the cluster elects a leader. The message id prevents a second
 * copy.
 */
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

/** Another node may have removed the message. If nats-server failed to, the next read finds it again. */
function ignoreIfRemoved(error: unknown): void {
  if (!(error instanceof JetStreamApiError)) throw error;
}

/** Throws SilentOverflowLog in place of the client's TimeoutError. */
function orSilent<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw error instanceof TimeoutError ? noAnswer({ cause: error }) : error;
  });
}

function noAnswer(options?: ErrorOptions): SilentOverflowLog {
  return new SilentOverflowLog('The overflow log did not answer.', options);
}

function isFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && FULL_CODES.has(error.code);
}
