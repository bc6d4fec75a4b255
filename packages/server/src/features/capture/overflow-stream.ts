import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { StorageUnavailable } from '../../database/store.ts';

/** Milliseconds for a call of JetStream's API. */
const CALL_MS = 1000;
const NANOS_PER_MS = 1_000_000;
/** JetStream recognizes a repeated batch for this long. After that only the database does. */
const DUPLICATE_WINDOW_MS = 120_000;

/** NATS was reached and has no JetStream, so there is no log. */
export class NoOverflowLog extends StorageUnavailable {}

/** NATS or the leader of the stream does not answer, for example while the cluster elects one. */
export class SilentOverflowLog extends StorageUnavailable {}

/** The stream that an overflow log needs. */
interface StreamOptions {
  readonly name: string;
  readonly subjects: string[];
  readonly replicas: number;
  readonly maxBytes: number;
}

export type OpenedStream = Awaited<ReturnType<typeof openStream>>;

/** Opens the stream, and creates or changes it. @throws NoOverflowLog, or Error when NATS does not answer */
export async function openStream(connection: NatsConnection | undefined, options: StreamOptions) {
  if (connection === undefined) throw new StorageUnavailable('NATS was not reached yet.');
  try {
    const manager = await jetstreamManager(connection, { timeout: CALL_MS });
    await ensureStream(manager, options);
    return { connection, manager, client: jetstream(connection, { timeout: CALL_MS }) };
  } catch (error) {
    throw isNotEnabled(error) ? new NoOverflowLog('NATS has no JetStream.', { cause: error }) : error;
  }
}

async function ensureStream(
  manager: JetStreamManager,
  { name, subjects, replicas, maxBytes }: StreamOptions,
): Promise<void> {
  const present = await manager.streams.info(name).catch(undefinedIfMissing);
  // nats-server deletes the oldest batches over a smaller maximum. So the maximum shrinks only while the log is empty.
  const isShrinkable = present === undefined || present.state.messages === 0;
  const limit = isShrinkable ? maxBytes : Math.max(maxBytes, present.config.max_bytes);
  const changeable = { subjects, num_replicas: replicas, max_bytes: limit };
  const stream = {
    ...changeable,
    name,
    storage: StorageType.File,
    // Not a work queue: each replica removes what a consumer acknowledged, and differs from the others after a kill.
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    duplicate_window: DUPLICATE_WINDOW_MS * NANOS_PER_MS,
  };
  // Several nodes may create it at once; with equal settings all of them succeed.
  if (present === undefined) await manager.streams.add(stream);
  else if (present.config.num_replicas !== replicas || present.config.max_bytes !== limit)
    await manager.streams.update(name, changeable);
}

/** Other errors do not mean that the stream is missing. */
function undefinedIfMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}

/** NATS has no such stream, for example because it lost its disk. */
export function isMissing(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
}

/** The client does not export the class. It throws it when no server of the cluster answers calls of JetStream. */
function isNotEnabled(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}
