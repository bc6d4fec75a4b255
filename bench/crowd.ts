// A crowd that all call at the same moment, each from an address of their own, with one JSON body: `crowd.ts URL PEOPLE BODY`. Prints how
// long the last one waited and how many were refused. It stands for other machines, so it goes behind everything else on this one.
import { connect } from 'node:net';
import { letOthersGoFirst } from '../packages/server/src/accounts/thread-priority.ts';

letOthersGoFirst();
const [url = '', people = '0', body = ''] = process.argv.slice(2);
const { hostname, port, pathname, host } = new URL(url);

/** True when the answer is 200. Sockets, since a client of Node's takes more of the machine than what is measured. */
function call(nth: number): Promise<boolean> {
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

const started = performance.now();
const served = await Promise.all(Array.from({ length: Number(people) }, (_, nth) => call(nth)));
const refused = served.filter((wasServed) => !wasServed).length;
process.stdout.write(JSON.stringify({ allMs: performance.now() - started, refused }));
