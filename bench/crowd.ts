// Simulates many clients that send the same call at the same moment, each from its own address. `POST { url, clients, body }` responds
// with the time until the last response and the number of failed calls. A separate process, started before the measurement.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const orderSchema = z.object({ url: z.url(), clients: z.int(), body: z.string() });

/** Resolves with true if the response is 200. Uses a socket, because an HTTP client would need more processor time than the server. */
function call(url: string, body: string, nth: number): Promise<boolean> {
  const { hostname, port, pathname, host } = new URL(url);
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Forwarded-For: 10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`,
    'Connection: close',
  ];
  return new Promise((resolve) => {
    let response = '';
    const socket = connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`));
    socket.on('data', (chunk) => (response += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(response.startsWith('HTTP/1.1 200')));
  });
}

async function callAll({ url, clients, body }: z.infer<typeof orderSchema>): Promise<string> {
  const started = performance.now();
  const succeeded = await Promise.all(Array.from({ length: clients }, (_, nth) => call(url, body, nth)));
  return JSON.stringify({ allMs: performance.now() - started, failed: succeeded.filter((ok) => !ok).length });
}

// Real clients run on other machines, so these must not take time from the server.
setPriority(constants.priority.PRIORITY_LOW);
createServer((request, response) => {
  if (request.method !== 'POST') return void response.end();
  void json(request)
    .then((order) => callAll(orderSchema.parse(order)))
    .then((result) => response.end(result));
}).listen(Number(process.env['PORT']), '127.0.0.1');
