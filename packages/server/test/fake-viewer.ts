import { liveMessageSchema } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import { vi } from 'vitest';
import { encodeHead } from '../src/database/stored-request.ts';
import type { RequestRecord } from '../src/database/stored-request.ts';
import { LiveConnection, newLiveMemory } from '../src/features/live/live-connection.ts';
import type { LiveSocket } from '../src/features/live/live-connection.ts';
import { eventOfRecord, eventOfCapture } from '../src/features/live/live-events.ts';
import type { RequestEvent } from '../src/features/live/live-events.ts';

const HEAD = encodeHead('/hook', '127.0.0.1', true, ['Host', 'h']);

/** A stored request with a short head. */
export function record(index: number, body = `body ${index}`): RequestRecord {
  const bytes = Buffer.from(body);
  return {
    endpointId: 1,
    index,
    savedId: null,
    method: 'POST',
    receivedAt: index,
    head: Buffer.from(HEAD, 'latin1'),
    body: bytes,
    size: bytes.length,
  };
}

/** The largest head, all quotation marks, and a body that grows sixfold. */
export function largeRecord(index: number): RequestRecord {
  const head = encodeHead(
    '/',
    '127.0.0.1',
    true,
    Array.from({ length: 7 }, (_, at) => [`x-${at}`, '"'.repeat(8000)]).flat(),
  );
  return { ...record(index, '\u0001'.repeat(16 * 1024)), head: Buffer.from(head, 'latin1') };
}

/** The event of a stored capture. */
export function stored(index: number, body = `body ${index}`): RequestEvent {
  return eventOfCapture(
    1,
    { method: 'POST', head: HEAD, body: Buffer.from(body) },
    { index, savedId: null, receivedAt: index },
  );
}

/** A message in a word: `init 2 1 0`, `3`, `saved 3`. */
function word(message: LiveMessage): string {
  switch (message.type) {
    case 'init':
      return ['init', ...message.data.map((request) => request.index)].join(' ');
    case 'request':
      return String(message.data.index);
    case 'saved':
      return `saved ${message.data.request.index}`;
    case 'deleted':
      return `deleted ${message.data.id}`;
    case 'clear':
      return 'clear';
    case 'delivery':
      return `delivery ${message.data.index}`;
    case 'endpoint':
      return `endpoint ${message.data.requestCount}`;
  }
}

/** The same of a message's text. */
export function wordOfFrame(text: string): string {
  return word(liveMessageSchema.parse(JSON.parse(text)));
}

/** A socket that accepts bytes only while it is read. */
function newSocket() {
  const sent: string[] = [];
  const listeners: Record<string, () => void> = {};
  let reading = true;
  let isPaused = false;
  let pending = 0;
  let maxPending = 0;
  let begun = '';
  let taken: () => void = () => undefined;
  const socket: LiveSocket = {
    get bufferedAmount() {
      return pending;
    },
    on: (event: string, listener: (data: Buffer) => void) => {
      listeners[event] = () => listener(Buffer.alloc(0));
    },
    send(data, { fin }, done) {
      const isPart = typeof data !== 'string';
      if (!isPart && begun !== '') throw new Error('A frame within a message');
      begun += String(data);
      taken = done;
      if (!reading) pending += data.length;
      maxPending = Math.max(maxPending, pending);
      if (!fin) return;
      sent.push(wordOfFrame(begun));
      begun = '';
    },
    ping: () => undefined,
    close: () => undefined,
    pause: () => {
      isPaused = true;
    },
    terminate: () => undefined,
  };
  const take = (isReading: boolean): void => {
    reading = isReading;
    pending = 0;
    taken();
  };
  return {
    sent,
    socket,
    stopReading: () => {
      reading = false;
    },
    readAgain: () => take(true),
    /** Reads what is pending, and nothing more. */
    takeSome: () => take(false),
    closed: () => listeners['close']?.(),
    /** Receives a frame that breaks the protocol. */
    breakProtocol: () => listeners['error']?.(),
    isPaused: () => isPaused,
    pending: () => pending,
    maxPending: () => maxPending,
  };
}

/** With fake timers: a viewer over a store that responds on command, and over such a socket. */
export function newViewer(memory = newLiveMemory()) {
  const failures: unknown[] = [];
  const reads: { resolve: (records: RequestRecord[]) => void; reject: (error: Error) => void }[] = [];
  const store = {
    listRequests: () =>
      new Promise<RequestRecord[]>((resolve, reject) => {
        reads.push({ resolve, reject });
      }),
  };
  const { socket, closed, ...wire } = newSocket();
  /** Other nodes' requests that can be read, by index. */
  const elsewhere = new Map<number, RequestRecord>();
  const connection = new LiveConnection({
    socket,
    transport: { cork: () => undefined, uncork: () => undefined },
    userId: 1,
    sessionId: 'session',
    endpoint: { id: 1, uid: 'uid' },
    store,
    readRequests: async (after, upTo) =>
      [...elsewhere.values()]
        .filter(({ index }) => index > after && index <= upTo)
        .toSorted((a, b) => a.index - b.index)
        .map(eventOfRecord),
    memory,
    onFailure: (error) => failures.push(error),
    onClosed: () => undefined,
  });
  const next = () => {
    const read = reads.shift();
    if (read === undefined) throw new Error('Nothing is being read');
    return read;
  };
  const answer = async (records: RequestRecord[]): Promise<void> => {
    next().resolve(records);
    await vi.advanceTimersByTimeAsync(20);
  };
  return {
    ...wire,
    viewer: Object.assign(connection, { stop: () => connection.close(1001), release: closed }),
    failures,
    elsewhere,
    reads: () => reads.length,
    /** Responds to the snapshot read with these indexes, newest first. */
    snapshot: (...indexes: number[]) => answer(indexes.map((index) => record(index))),
    snapshotOf: answer,
    /** Responds with a hundred of the largest. */
    largeSnapshot: () => answer(Array.from({ length: 100 }, (_, at) => largeRecord(99 - at))),
    async fail() {
      next().reject(new Error('disk I/O error'));
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

/** A viewer that has got its `init` with these indexes. */
export async function newLiveViewer(...indexes: number[]) {
  const it = newViewer();
  it.viewer.start();
  await it.snapshot(...indexes);
  it.sent.length = 0;
  return it;
}

export const wait = (milliseconds = 20) => vi.advanceTimersByTimeAsync(milliseconds);
