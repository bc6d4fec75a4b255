// Sends steady captures in a separate process. Each connection waits for its response, then pauses for a random time. Responds to each
// message with the captures since the message before.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BODY } from './load.ts';

const [url = '', connections = '', maxPauseMs = ''] = process.argv.slice(2);
const { host, hostname, port, pathname } = new URL(url);
const request = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

let latenciesMs: number[] = [];
let failures = 0;

/** Sends captures until the process ends. Uses a socket, because an HTTP client would need more processor time. */
async function send(): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('close', () => (failures += 1)).on('error', () => undefined);
  while (!socket.destroyed) {
    await sleep(Math.random() * Number(maxPauseMs));
    const began = performance.now();
    socket.write(request);
    // A response is so short that it arrives in one piece.
    const [response]: unknown[] = await once(socket, 'data');
    latenciesMs.push(performance.now() - began);
    if (!String(response).startsWith('HTTP/1.1 200')) failures += 1;
  }
}

for (let nth = 0; nth < Number(connections); nth += 1) void send().catch(() => undefined);
process.on('message', () => {
  process.send?.({ latenciesMs, failures });
  latenciesMs = [];
  failures = 0;
});
process.on('disconnect', () => process.exit(0));
