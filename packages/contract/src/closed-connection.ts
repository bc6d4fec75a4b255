/** Sending to a target that may close the connection early. The server and the command line run this in Node. */

/** True for the error of a connection that the other side has closed. */
export function isClosedConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

type Done = (error?: Error | null) => void;

/** The used parts of Node's socket. Browsers load this package too, so it has none of Node's types. */
interface WritingSocket {
  readonly readableEnded: boolean;
  once(event: 'end', listener: () => void): unknown;
  _write(chunk: unknown, encoding: string, done: Done): void;
  _writev?(chunks: unknown[], done: Done): void;
}

/**
 * Reports a failed write only after everything that arrived was read. A target that rejects a large body responds and
 * closes the connection. The next write fails, and Node would destroy the socket before it reads the response.
 */
export function readBeforeFailing<S extends WritingSocket>(socket: S): S {
  const [write, writeAll] = [socket._write.bind(socket), socket._writev?.bind(socket)];
  const late =
    (done: Done): Done =>
    (error) => {
      if (socket.readableEnded || !isClosedConnection(error)) done(error);
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

/** The used parts of Node's request. */
interface SendingRequest {
  once(event: 'close', listener: () => void): unknown;
  once(event: 'response', listener: (response: { readonly statusCode?: number | undefined }) => void): unknown;
  write(bytes: Uint8Array, done: () => void): unknown;
  end(): unknown;
}

/**
 * Writes a body until it is complete, or the target has rejected it. A target that closes with unread bytes discards what
 * its system has not sent yet, so a large body waits. A target that starts another response early gets the whole body.
 */
export async function sendBody(request: SendingRequest, body: Uint8Array): Promise<void> {
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      resolve();
    };
    request.once('close', end);
    request.once('response', ({ statusCode = 0 }) => (statusCode >= FIRST_REFUSAL ? end() : undefined));
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
