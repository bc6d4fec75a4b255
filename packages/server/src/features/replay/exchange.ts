import { MAX_REPLAY_ANSWER_BYTES, replayHeaderLines } from '@creel/contract';
import type { RawHeaders, ReplayHead } from '@creel/contract';
import { request as openRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { ReplayFailure } from './replay-failure.ts';

/** Bytes of an answer's head at most. */
const MAX_HEAD_BYTES = 64 * 1024;

/** Interim answers (1xx) before the answer at most: they cost time, and nobody needs many. */
const MOST_INTERIM = 1000;

/** What is sent. */
export interface Outgoing extends Omit<ReplayHead, 'bodyBytes'> {
  readonly path: string;
  readonly body: Uint8Array;
}

/** What came back. */
export interface Incoming {
  readonly status: number;
  readonly statusText: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
  /** True when there was more, or would have been: it was over the limit, too slow, or broke off. */
  readonly isCut: boolean;
}

/**
 * Sends a message over a connection and reads the answer, as both stand on the wire: nothing is followed, decoded or merged. When
 * `signal` goes off, what has come so far is the answer; before its head there is none.
 * @throws whatever the connection, TLS or the parser throws, or the signal's reason
 */
export async function exchange(socket: Socket, outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> {
  const request = openRequest({
    method: outgoing.method,
    path: outgoing.path,
    // Flat names and values: Node writes them down as they are.
    headers: replayHeaderLines({ ...outgoing, bodyBytes: outgoing.body.length }).flat(),
    setHost: false,
    maxHeaderSize: MAX_HEAD_BYTES,
    createConnection: () => socket,
  });
  // By default the lines past the 1,000th are dropped; their bytes are bounded above.
  request.maxHeadersCount = 0;
  const stop = (): void => void request.destroy(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const answer = await headOf(request, outgoing.body);
    const { body, isCut } = await readBounded(answer);
    // Where only the connection's end tells the body's, Node takes the one that we made for the target's.
    return { ...describe(answer), body, isCut: isCut || signal.aborted };
  } finally {
    signal.removeEventListener('abort', stop);
    request.destroy();
    socket.destroy();
  }
}

function headOf(request: ClientRequest, body: Uint8Array): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    // These stay: what breaks after the head is told by the answer's own end.
    request.on('error', reject);
    request.on('upgrade', () => reject(new ReplayFailure('The target switched to another protocol, unasked.')));
    request.on('close', () => reject(new ReplayFailure('The target closed the connection without an answer.')));
    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > MOST_INTERIM) request.destroy(new ReplayFailure('The target sent interim answers without end.'));
    });
    void sendBody(request, body);
  });
}

/** Bytes of a body that are written at a time. */
const SLICE_BYTES = 64 * 1024;
/** A body over this is likely to be refused; after its first slice the target has so many milliseconds to do so. */
const LARGE_BYTES = 1024 * 1024;
const REFUSAL_MS = 100;
/** From this status on an answer is the end of the matter, whether or not the body was wanted (RFC 9110 15). */
const FIRST_REFUSAL = 300;

/**
 * Writes a body slice by slice, with a look at what came in between: a target that refuses a large body answers before it has taken all
 * of it and hangs up, and writing on would break the connection before its answer is read. One that begins to answer while it takes
 * the body gets all of it.
 */
async function sendBody(request: ClientRequest, body: Uint8Array): Promise<void> {
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      resolve();
    };
    request.once('response', ({ statusCode = 0 }: IncomingMessage) => {
      if (statusCode >= FIRST_REFUSAL) end();
    });
    request.once('close', end);
  });
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    const taken = new Promise<void>(
      (resolve) => void request.write(body.subarray(at, at + SLICE_BYTES), () => resolve()),
    );
    await Promise.race([taken, over]);
    // The first comes before the loop looks at its sockets again, the second after that.
    await turnOfTheLoop();
    await turnOfTheLoop();
    if (at === 0 && body.length > LARGE_BYTES) await Promise.race([sleep(REFUSAL_MS), over]);
    if (isOver) return;
  }
  request.end();
}

function describe({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage) {
  const headers: RawHeaders = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return { status: statusCode, statusText: statusMessage, headers };
}

async function readBounded(answer: IncomingMessage): Promise<Pick<Incoming, 'body' | 'isCut'>> {
  const pieces: Buffer[] = [];
  let size = 0;
  let isCut = false;
  try {
    for await (const piece of answer) {
      if (!Buffer.isBuffer(piece)) continue;
      const room = MAX_REPLAY_ANSWER_BYTES - size;
      pieces.push(piece.subarray(0, room));
      size += Math.min(piece.length, room);
      isCut = piece.length > room;
      if (isCut) break;
    }
  } catch {
    isCut = true;
  }
  return { body: Buffer.concat(pieces, size), isCut };
}
