import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { listenLocally } from '../../../fixtures/listen-locally.ts';

/** A target of replays that records every byte and responds with given bytes. */
export type RawTarget = Awaited<ReturnType<typeof openRawTarget>>;

export const EMPTY_OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Responds with these bytes and hangs up. */
export const saying =
  (bytes: string | Uint8Array) =>
  (socket: Socket): void => {
    if (typeof bytes === 'string') socket.end(bytes, 'latin1');
    else socket.end(bytes);
  };

export async function openRawTarget(host = '127.0.0.1') {
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const nth = received.push(Buffer.alloc(0)) - 1;
    let isAnswered = false;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (piece: Buffer) => {
      received[nth] = Buffer.concat([received[nth] ?? Buffer.alloc(0), piece]);
      if (isAnswered || !isWhole(received[nth])) return;
      isAnswered = true;
      target.answer(socket);
    });
  });
  const port = await listenLocally(server, { host });
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const target = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    /** The bytes of each connection so far. */
    received,
    /** Number of connections. */
    count: () => received.length,
    /** Called after a request's head and body. By default an empty 200. */
    answer: saying(EMPTY_OK),
    close,
    [Symbol.asyncDispose]: close,
  };
  return target;
}

function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.subarray(0, end).toString('latin1'))?.[1] ?? '0';
  return bytes.length >= end + 4 + Number(length);
}
