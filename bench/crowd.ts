// A crowd that all call at the same moment, each from an address of their own, with one JSON body. Asked with `{ url, people, body }`, it
// answers how long the last one waited and how many were refused. It stands for other machines, so it goes behind everything else on
// this one, and it is started beforehand, since a start is more work than the calls.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { letOthersGoFirst } from './thread-priority.ts';

const orderSchema = z.object({ url: z.url(), people: z.int(), body: z.string() });

/** True when the answer is 200. Sockets, since a client of Node's takes more of the machine than what is measured. */
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
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`));
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer.startsWith('HTTP/1.1 200')));
  });
}

async function goThere({ url, people, body }: z.infer<typeof orderSchema>): Promise<string> {
  const started = performance.now();
  const served = await Promise.all(Array.from({ length: people }, (_, nth) => call(url, body, nth)));
  return JSON.stringify({ allMs: performance.now() - started, refused: served.filter((was) => !was).length });
}

letOthersGoFirst();
createServer((request, response) => {
  if (request.method !== 'POST') return void response.end();
  void json(request)
    .then((order) => goThere(orderSchema.parse(order)))
    .then((told) => response.end(told));
}).listen(Number(process.env['PORT']), '127.0.0.1');
