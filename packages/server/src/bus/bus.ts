import { parseJson } from '@creel/contract';
import { z } from 'zod';

/** Notices between the nodes that share a database (docs/architecture.md, "Several nodes"). */
export interface Bus {
  /**
   * Sends a notice to the other nodes. Call it after the commit. It never waits or fails. A lost notice is a gap. Deliveries of an
   * endpoint that are published within a moment are sent as one notice.
   */
  publish(notice: Exclude<Notice, { kind: 'captured' }>): void;
  /** A capture is stored. Captures of one batch are sent as one notice. */
  captured(endpointId: number, index: number): void;
  /** Calls `handle` with each notice of the other nodes, at most once and in the order of its sender. */
  subscribe(handle: (notice: Notice) => void): void;
  /** Calls `handle` when notices may have been lost: data that depends on them must be read again. */
  onGap(handle: () => void): void;
  /** Nodes that this node knows, including itself. Without others, notices are dropped. */
  readonly nodeCount: number;
  /** False while notices may be missing. Then the database must be asked at intervals. */
  readonly isHealthy: boolean;
  close(): Promise<void>;
}

/** The bus of a node that is alone with its database. */
export const localBus: Bus = {
  publish: () => undefined,
  captured: () => undefined,
  subscribe: () => undefined,
  onGap: () => undefined,
  nodeCount: 1,
  isHealthy: true,
  close: () => Promise.resolve(),
};

/** Maximum endpoints, deliveries or requests in one notice: PostgreSQL's limit is 8,000 bytes. */
export const MAX_PER_NOTICE = 150;

const id = z.int();

/** A message to the other nodes after the commit. It has no captured content: receivers read the database. */
const noticeSchema = z.discriminatedUnion('kind', [
  /** Captures are stored, once per batch: endpoint and newest index. */
  z.object({ kind: z.literal('captured'), newest: z.array(z.tuple([id, id])) }),
  /** An endpoint was changed, or its figures were. */
  z.object({ kind: z.literal('changed'), endpointId: id }),
  /** An endpoint was deleted. */
  z.object({ kind: z.literal('gone'), endpointId: id }),
  /** The requests with these indexes were saved. */
  z.object({ kind: z.literal('saved'), endpointId: id, indexes: z.array(id).readonly() }),
  /** The requests with these ids were deleted. */
  z.object({ kind: z.literal('deleted'), endpointId: id, ids: z.array(id).readonly() }),
  /** Deliveries, oldest first: the index of the request, and the id of an attempt, or 0 for the state of the request. */
  z.object({ kind: z.literal('delivered'), endpointId: id, deliveries: z.array(z.tuple([id, id])).readonly() }),
  /** All requests with an index below `below` were removed. */
  z.object({ kind: z.literal('clear'), endpointId: id, below: id }),
  /** These destinations have due deliveries. The node with their lease sends them. */
  z.object({ kind: z.literal('due'), destinationIds: z.array(id).readonly() }),
  /** A session ended. */
  z.object({ kind: z.literal('session'), id: z.string() }),
  /** All sessions of a user ended, except one. */
  z.object({ kind: z.literal('user'), id, exceptSessionId: z.string().optional() }),
  /** A node started, and asks the others to answer. */
  z.object({ kind: z.literal('hello') }),
  /** A node was shut down. */
  z.object({ kind: z.literal('left') }),
]);
export type Notice = z.infer<typeof noticeSchema>;
export type DeliveredNotice = Extract<Notice, { kind: 'delivered' }>;

const messageSchema = z.object({
  /** The sending node: a random id for the life of a process. */
  n: z.string(),
  /** The sequence number of this notice, or of the last one before a heartbeat. */
  s: z.int(),
  notice: noticeSchema.optional(),
});
/** A message between nodes. Without a notice it is a heartbeat. */
export type BusMessage = z.infer<typeof messageSchema>;

/** The text that `readMessage` accepts. */
export function writeMessage(message: BusMessage): string {
  return JSON.stringify(message);
}

/** `undefined` when the text is not a message of this version. */
export function readMessage(text: string): BusMessage | undefined {
  return messageSchema.safeParse(parseJson(text)).data;
}

/** Notices that fit into a message each, and together say the same. */
export function partsOf(notice: Notice): readonly Notice[] {
  if (notice.kind === 'captured') return inParts(notice.newest).map((newest) => ({ ...notice, newest }));
  if (notice.kind === 'saved') return inParts(notice.indexes).map((indexes) => ({ ...notice, indexes }));
  if (notice.kind === 'deleted') return inParts(notice.ids).map((ids) => ({ ...notice, ids }));
  if (notice.kind === 'delivered') return inParts(notice.deliveries).map((deliveries) => ({ ...notice, deliveries }));
  return [notice];
}

/** Parts of a list; by default those that fit into a message. */
export function inParts<T>(entries: readonly T[], size = MAX_PER_NOTICE): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < entries.length; at += size) parts.push(entries.slice(at, at + size));
  return parts;
}
