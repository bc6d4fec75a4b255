import { liveMessageSchema } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import { vi } from 'vitest';
import { encodeHead } from '../src/database/request-head.ts';
import type { RequestRecord } from '../src/database/store.ts';
import type { FeedEvent } from '../src/features/live/live.ts';
import { LiveMemory } from '../src/features/live/live-memory.ts';
import { storedEvent } from '../src/features/live/stored-event.ts';
import { Viewer } from '../src/features/live/viewer.ts';

const HEAD = encodeHead('/hook', '127.0.0.1', true, ['Host', 'h']);

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

export function stored(index: number, body = `body ${index}`): FeedEvent {
  return storedEvent(
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

/** A connection that accepts bytes only while it is read. */
function newWire() {
  const sent: string[] = [];
  let reading = true;
  let pending = 0;
  let maxPending = 0;
  let begun = '';
  const outlet = {
    sendPart(text: string, isLast: boolean) {
      begun += text;
      if (!reading) pending += text.length;
      maxPending = Math.max(maxPending, pending);
      if (!isLast) return;
      sent.push(word(liveMessageSchema.parse(JSON.parse(begun))));
      begun = '';
    },
    send(frame: string) {
      if (begun !== '') throw new Error('A frame within a message');
      outlet.sendPart(frame, true);
    },
    pendingBytes: () => pending,
    cork: () => undefined,
    uncork: () => undefined,
  };
  const take = (isReading: boolean): void => {
    reading = isReading;
    pending = 0;
  };
  return {
    sent,
    outlet,
    take,
    stopReading: () => {
      reading = false;
    },
    pending: () => pending,
    maxPending: () => maxPending,
  };
}

/** With fake timers: a viewer over a store that responds on command, and over such a connection. */
export function newViewer(memory = new LiveMemory()) {
  const failures: unknown[] = [];
  const reads: { resolve: (records: RequestRecord[]) => void; reject: (error: Error) => void }[] = [];
  const store = {
    listRequests: () =>
      new Promise<RequestRecord[]>((resolve, reject) => {
        reads.push({ resolve, reject });
      }),
  };
  const { outlet, take, ...wire } = newWire();
  const viewer = new Viewer(1, store, outlet, (error) => failures.push(error), memory.share(1));
  const next = () => {
    const read = reads.shift();
    if (read === undefined) throw new Error('Nothing is being read');
    return read;
  };
  const answer = async (records: RequestRecord[]): Promise<void> => {
    next().resolve(records);
    await vi.advanceTimersByTimeAsync(20);
  };
  const takeAll = (isReading: boolean): void => {
    take(isReading);
    viewer.noteTaken();
  };
  return {
    ...wire,
    viewer,
    failures,
    reads: () => reads.length,
    /** Responds to the snapshot read with these indexes, newest first. */
    snapshot: (...indexes: number[]) => answer(indexes.map((index) => record(index))),
    /** Responds with a hundred of the largest. */
    largeSnapshot: () => answer(Array.from({ length: 100 }, (_, at) => largeRecord(99 - at))),
    async fail() {
      next().reject(new Error('disk I/O error'));
      await vi.advanceTimersByTimeAsync(0);
    },
    readAgain: () => takeAll(true),
    /** Reads what is pending, and nothing more. */
    takeSome: () => takeAll(false),
  };
}

export async function newLiveViewer(...indexes: number[]) {
  const it = newViewer();
  it.viewer.start();
  await it.snapshot(...indexes);
  it.sent.length = 0;
  return it;
}

export const wait = (milliseconds = 20) => vi.advanceTimersByTimeAsync(milliseconds);
