import { rawHeadersOf } from './raw-headers.ts';

/** Sends requests to targets that are not trusted to follow HTTP. The server and the command line run this in Node. */

interface ReadLimits {
  /** An abort ends the attempt, or the body after the response's head. */
  readonly signal: AbortSignal;
  readonly keptBytes: number;
  /** The rest up to here is discarded, because some targets report an error if their response is not read. */
  readonly maxBytes: number;
}

type Done = (error?: Error | null) => void;

/** The used parts of Node's socket. Browsers load this package too, so it has none of Node's types. */
interface WritingSocket {
  readonly readableEnded: boolean;
  once(event: 'end', listener: () => void): unknown;
  destroy(): unknown;
  _write(chunk: unknown, encoding: string, done: Done): void;
  _writev?(chunks: unknown[], done: Done): void;
}

/** The used parts of Node's response. */
interface IncomingResponse {
  readonly statusCode?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly rawHeaders: string[];
  readonly complete: boolean;
  readonly socket: { prependOnceListener(event: 'error', listener: () => void): unknown };
  on(event: 'data', listener: (piece: Uint8Array) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** The used parts of Node's request. */
interface SendingRequest {
  on(event: 'close' | 'information', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'response', listener: (response: IncomingResponse) => void): unknown;
  once(event: 'socket', listener: (socket: WritingSocket) => void): unknown;
  once(event: 'upgrade', listener: (response: unknown, socket: { destroy(): unknown }) => void): unknown;
  write(bytes: Uint8Array, done: () => void): unknown;
  end(): unknown;
  destroy(error?: Error): unknown;
}

/** Maximum number of interim responses (1xx) before the response. */
const MAX_INTERIM = 1000;

/**
 * Sends a body, and reads the response. Without a response it rejects with the error of the connection or the parser, or
 * the signal's reason. The error's `code` is one of Node's, SWITCHED_PROTOCOL or TOO_MANY_INTERIM.
 */
export async function sendAndRead(request: SendingRequest, body: Uint8Array, limits: ReadLimits) {
  const { signal } = limits;
  const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof readResponse>>();
  const stop = (): void => void request.destroy(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  let connection: WritingSocket | undefined;
  request.once('socket', (socket) => (connection = readBeforeFailing(socket)));
  request.on('response', (response) => {
    // Node's parser also accepts 000 to 099, which are no status codes (RFC 9110, section 15).
    if ((response.statusCode ?? 0) < 100) reject(failure('HPE_INVALID_STATUS'));
    else resolve(readResponse(response, limits));
  });
  request.on('error', reject);
  request.once('upgrade', (_response, socket) => {
    socket.destroy();
    reject(failure('SWITCHED_PROTOCOL'));
  });
  request.on('close', () => reject(failure('ECONNRESET')));
  let interim = 0;
  request.on('information', () => {
    interim += 1;
    if (interim > MAX_INTERIM) request.destroy(failure('TOO_MANY_INTERIM'));
  });
  void sendBody(request, body);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    request.destroy();
    connection?.destroy();
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A response with smaller pieces on average is cut off earlier: each takes processor time, whatever its size. */
const MIN_PIECE_BYTES = 10;

async function readResponse(response: IncomingResponse, { signal, keptBytes, maxBytes }: ReadLimits) {
  const kept = new Beginning(keptBytes);
  let size = 0;
  let pieces = 0;
  response.on('data', (piece) => {
    kept.add(piece);
    size += piece.length;
    pieces += 1;
    if (size > maxBytes || pieces > maxBytes / MIN_PIECE_BYTES) response.destroy();
  });
  // If only the connection's end marks the body's end, Node also takes a reset and our own abort for it.
  let isReset = false;
  response.socket.prependOnceListener('error', () => (isReset = !response.complete));
  response.on('error', () => undefined);
  await new Promise<void>((resolve) => void response.once('close', resolve));
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: rawHeadersOf(response.rawHeaders),
    /** The first `keptBytes` of the body. */
    beginning: kept.bytes,
    isLonger: size > keptBytes,
    /** The body is incomplete: over `maxBytes`, aborted, or the connection broke. */
    isCut: !response.complete || isReset || signal.aborted,
  };
}

/** The first bytes of what is added, in one block: a target may send a million pieces, and each takes memory. */
class Beginning {
  readonly #maxBytes: number;
  #block = new Uint8Array(0);
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#block.subarray(0, this.#size);
  }

  add(piece: Uint8Array): void {
    const added = piece.subarray(0, this.#maxBytes - this.#size);
    const size = this.#size + added.length;
    if (size > this.#block.length) {
      const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(size, 2 * this.#block.length)));
      larger.set(this.bytes);
      this.#block = larger;
    }
    this.#block.set(added, this.#size);
    this.#size = size;
  }
}

/**
 * Reports a failed write only after everything that arrived was read. A target that rejects a large body responds and
 * closes the connection. The next write fails, and Node would destroy the socket before it reads the response.
 */
function readBeforeFailing(socket: WritingSocket): WritingSocket {
  const [write, writeAll] = [socket._write.bind(socket), socket._writev?.bind(socket)];
  const late =
    (done: Done): Done =>
    (error) => {
      const isClosed = error instanceof Error && 'code' in error && /^(?:ECONNRESET|EPIPE)$/.test(String(error.code));
      if (socket.readableEnded || !isClosed) done(error);
      else socket.once('end', () => done(error));
    };
  socket._write = (chunk, encoding, done) => write(chunk, encoding, late(done));
  socket._writev = (chunks, done) => writeAll?.(chunks, late(done));
  return socket;
}

/** Bytes of a body per write. TLS encrypts what it is given at once, which takes time and memory. */
const SLICE_BYTES = 64 * 1024;
/** A larger body is likely to be rejected. After its first slice the target gets some milliseconds to do so. */
const LARGE_BYTES = 1024 * 1024;
const REFUSAL_MS = 100;
/** From this status on a response is final even if the body was not read (RFC 9110, section 15). */
const FIRST_REFUSAL = 300;

/**
 * Writes a body until it is complete, or the target has rejected it. A target that closes with unread bytes discards what
 * its system has not sent yet, so a large body waits. A target that starts another response early gets the whole body.
 */
async function sendBody(request: SendingRequest, body: Uint8Array): Promise<void> {
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      resolve();
    };
    request.on('close', end);
    request.on('response', ({ statusCode = 0 }) => (statusCode >= FIRST_REFUSAL ? end() : undefined));
  });
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    const taken = new Promise<void>((resolve) => void request.write(body.subarray(at, at + SLICE_BYTES), resolve));
    await Promise.race([taken, over]);
    if (at === 0 && body.length > LARGE_BYTES)
      await Promise.race([new Promise((resolve) => void setTimeout(resolve, REFUSAL_MS)), over]);
    if (isOver) return;
  }
  request.end();
}
