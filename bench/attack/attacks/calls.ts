import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressOf, AnswerCount, closed, inParallel, open, sendAlone, write } from '../sockets.ts';
import type { AttackTarget } from '../sockets.ts';
import type { Attack } from './attack.ts';

const SECONDS = 12;

export function callBytes(method: string, path: string, headers: readonly string[], body = ''): string {
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, 'Host: h', ...headers, ...length, '', body].join('\r\n');
}

/** `count` callers at the same moment, each from its own address. */
function crowd(name: string, what: string, count: number, body: (nth: number) => object, path: string): Attack {
  return {
    name,
    what,
    maxSeconds: 25,
    async run(target, answers) {
      await inParallel(count, count, async (nth) => {
        const bytes = callBytes('POST', path, ['Connection: close'], JSON.stringify(body(nth)));
        await sendAlone(target, [bytes], { answers, localAddress: addressOf(nth), maxMs: 20_000 });
      });
    },
  };
}

/** Calls on `connections` connections without a pause, each after the previous response. `bytes` may prepare them. */
export function repeated(
  name: string,
  what: string,
  connections: number,
  bytes: (target: AttackTarget) => string | Promise<string>,
): Attack {
  return {
    name,
    what,
    maxSeconds: SECONDS + 20,
    async run(target, answers) {
      const request = await bytes(target);
      const until = performance.now() + SECONDS * 1000;
      await inParallel(connections, connections, async (nth) => {
        const socket = await open(target, { answers, localAddress: addressOf(nth) });
        if (socket === undefined) return;
        const own = new AnswerCount();
        own.follow(socket);
        let sent = 1;
        socket.on('data', () => {
          if (performance.now() > until || own.total < sent) return;
          sent += 1;
          socket.write(request);
        });
        socket.write(request);
        await closed(socket, SECONDS * 1000);
        socket.destroy();
      });
    },
  };
}

export function upgradeBytes(path: string, cookie: string): string {
  const key = `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`;
  const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key];
  return callBytes('GET', path, cookie === '' ? lines : [...lines, `Cookie: ${cookie}`]);
}

/** Web sockets of one user, opened and never read while captures arrive for them. */
const liveSockets: Attack = {
  name: 'live-sockets',
  what: '1,000 web sockets of one user, never read, while 32 KiB captures arrive for them',
  maxSeconds: 25,
  async run(target, answers) {
    const sockets: Socket[] = [];
    await inParallel(1000, 100, async () => {
      const socket = await open(target);
      if (socket === undefined) return;
      sockets.push(socket);
      await write(socket, upgradeBytes(`/ws?endpoint=${target.uid}`, target.cookie));
      socket.pause();
    });
    const bytes = callBytes('POST', target.capturePath, ['Connection: close'], 'x'.repeat(32 * 1024));
    await inParallel(2000, 16, () => sendAlone(target, [bytes], { answers, maxMs: 10_000 }));
    await sleep(2000);
  },
};

const MB = 1_000_000;

/** Fills an endpoint with large bodies and clears it repeatedly. The database must not keep the deleted data. */
const clearLarge: Attack = {
  name: 'call-clear',
  what: '20 bodies of 20 MB, then "Clear Data", again and again',
  maxSeconds: 30,
  async run(target, answers) {
    const until = performance.now() + 20_000;
    const body = Buffer.alloc(20 * MB, 'x');
    const post = `POST ${target.capturePath} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    const clear = `/api/endpoints/${target.uid}/requests`;
    const call = (...bytes: (string | Buffer)[]): Promise<void> => sendAlone(target, bytes, { answers, maxMs: 10_000 });
    while (performance.now() < until) {
      await inParallel(20, 4, () => call(post, body));
      await call(callBytes('DELETE', clear, [`Cookie: ${target.cookie}`, 'Connection: close']));
    }
  },
};

/** Handshakes without a session. Each is rejected after a database query. */
const refusedSockets: Attack = {
  name: 'live-refused',
  what: '64 connections that ask for a web socket with a wrong session',
  maxSeconds: 25,
  async run(target, answers) {
    const until = performance.now() + SECONDS * 1000;
    await inParallel(1_000_000, 64, async () => {
      if (performance.now() > until) return;
      const bytes = upgradeBytes('/ws?endpoint=x', `creel_session=${'A'.repeat(43)}`);
      await sendAlone(target, [bytes], { answers, maxMs: 5000 });
    });
  },
};

const fromNobody = (path: string) => (): string => callBytes('GET', path, []);

export const callFloods: readonly Attack[] = [
  crowd(
    'sign-ins',
    '1,000 sign-ins at once',
    1000,
    (nth) => ({ username: `nobody-${nth}`, password: 'wrong-password' }),
    '/api/login',
  ),
  crowd(
    'sign-ups',
    '1,000 registrations at once',
    1000,
    (nth) => ({ username: `many-${nth}`, password: 'bench-password', email: `many-${nth}@example.com` }),
    '/api/register',
  ),
  repeated('call-readyz', '64 connections that ask `/readyz`, no account', 64, fromNobody('/readyz')),
  repeated('call-metrics', '64 connections that ask `/metrics`, no account', 64, fromNobody('/metrics')),
  repeated(
    'call-openapi',
    '64 connections that ask `/api/openapi.json`, no account',
    64,
    fromNobody('/api/openapi.json'),
  ),
  repeated('call-search', '32 connections that search through everything stored', 32, ({ cookie }) =>
    callBytes('GET', '/api/search?q=body%3Anothing-has-this%20OR%20zzzzzzz', [`Cookie: ${cookie}`]),
  ),
  repeated('call-list', '32 connections that list 500 requests', 32, ({ cookie, uid }) =>
    callBytes('GET', `/api/endpoints/${uid}/temp-requests?limit=500`, [`Cookie: ${cookie}`]),
  ),
  repeated('call-many-headers', '32 senders of captures with 9,000 headers of 3 bytes', 32, ({ capturePath }) =>
    callBytes(
      'GET',
      capturePath,
      Array.from({ length: 9000 }, (_, nth) => `${nth.toString(36)}:`),
    ),
  ),
  repeated('call-patch', '64 connections that rename an endpoint', 64, ({ cookie, uid }) =>
    callBytes('PATCH', `/api/endpoints/${uid}`, [`Cookie: ${cookie}`], '{"name":"renamed"}'),
  ),
  clearLarge,
  liveSockets,
  refusedSockets,
];
