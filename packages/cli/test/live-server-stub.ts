import type { LiveMessage } from '@creel/contract';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import { sampleEndpoint } from '../../../fixtures/sample-endpoint.ts';

/** Just enough of a server to follow an endpoint, for states that a real server can't be put into. */
export interface LiveServerStub {
  readonly origin: string;
  /** Response of `getEndpoint`: status and expiry, or the page of something else than Creel. */
  answer: { status: number; expiresAt: string | null; page?: string };
  /** Number of `getEndpoint` calls. */
  readonly calls: () => number;
  /** The next live socket that opens. */
  readonly opened: () => Promise<WebSocket>;
  readonly stop: () => void;
}

/** `clock` sets its `Date` headers, in milliseconds. */
export async function startLiveServerStub(clock: () => number): Promise<LiveServerStub> {
  let calls = 0;
  const http = createServer((_asked, answer) => {
    calls += 1;
    const { status, expiresAt, page } = stub.answer;
    answer.writeHead(status, { 'content-type': 'application/json', date: new Date(clock()).toUTCString() });
    const problem = { message: 'No.', code: 'TEST' };
    answer.end(page ?? JSON.stringify(status === 200 ? { ...sampleEndpoint(), expiresAt } : problem));
  });
  const sockets = new WebSocketServer({ server: http });
  const port = await listenLocally(http);
  const stub: LiveServerStub = {
    origin: `http://127.0.0.1:${port}`,
    answer: { status: 200, expiresAt: null },
    calls: () => calls,
    opened: () => new Promise((resolve) => sockets.once('connection', resolve)),
    stop: () => {
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
  return stub;
}

export function send(socket: WebSocket, message: LiveMessage): void {
  socket.send(JSON.stringify(message));
}
