import { WebSocket } from 'ws';

/** The server pings every 30 s (contract 5). Silence for longer than two pings: the other side is gone, and no packet will say so. */
const SILENCE_MS = 75_000;
const HANDSHAKE_MS = 15_000;

/** Opens a live socket with a program's headers. It closes by itself when the server has fallen silent. */
export function openSocket(url: string, headers: Record<string, string>): WebSocket {
  const socket = new WebSocket(url, { headers, handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false });
  const timer = setTimeout(() => {
    // While nobody reads, nothing can be heard.
    if (socket.isPaused) timer.refresh();
    else socket.terminate();
  }, SILENCE_MS);
  const heard = (): void => void timer.refresh();
  socket.on('open', heard);
  socket.on('ping', heard);
  socket.on('message', heard);
  socket.on('close', () => clearTimeout(timer));
  return socket;
}
