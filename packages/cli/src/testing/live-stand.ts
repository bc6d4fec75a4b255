import type { LiveMessage } from '@creel/contract';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { sampleEndpoint } from '../../../../fixtures/sample-endpoint.ts';

/** A server that speaks just enough to be followed, for what a real one can't be made to do at will. */
export interface LiveStand {
  readonly origin: string;
  /** What `getEndpoint` answers: a status, and when the endpoint expires. */
  answer: { status: number; expiresAt: string | null };
  /** How many calls of `getEndpoint` there were. */
  readonly calls: () => number;
  /** The next live socket that opens. */
  readonly opened: () => Promise<WebSocket>;
  readonly stop: () => void;
}

/** `clock` is what its `Date` headers say, in milliseconds. */
export async function startLiveStand(clock: () => number): Promise<LiveStand> {
  let calls = 0;
  const http = createServer((_asked, answer) => {
    calls += 1;
    const { status, expiresAt } = stand.answer;
    answer.writeHead(status, { 'content-type': 'application/json', date: new Date(clock()).toUTCString() });
    answer.end(JSON.stringify(status === 200 ? { ...sampleEndpoint(), expiresAt } : { message: 'No.' }));
  });
  const sockets = new WebSocketServer({ server: http });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('The system gave no port');
  const stand: LiveStand = {
    origin: `http://127.0.0.1:${address.port}`,
    answer: { status: 200, expiresAt: null },
    calls: () => calls,
    opened: () => new Promise((resolve) => sockets.once('connection', resolve)),
    stop: () => {
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
  return stand;
}

export function send(socket: WebSocket, message: LiveMessage): void {
  socket.send(JSON.stringify(message));
}
