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
