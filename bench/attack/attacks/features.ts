import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import { inParallel, open, sendAlone, write } from '../sockets.ts';
import type { AttackTarget } from '../sockets.ts';
import type { Attack } from './attack.ts';
import { callBytes, repeated, upgradeBytes } from './calls.ts';

const SECONDS = 12;
const SEARCH = '/api/search?q=order.paid';

/** A call of the attacker. @throws Error unless the status is 2xx */
async function call({ port, cookie }: AttackTarget, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

const endpointPath = ({ uid }: AttackTarget): string => `/api/endpoints/${uid}`;

async function capture(target: AttackTarget, body: string, headers: Record<string, string> = {}): Promise<void> {
  await fetch(`http://127.0.0.1:${target.port}${target.capturePath}`, { method: 'POST', headers, body });
}

/** JSON with millions of values. */
const manyValues = (bytes: number): string => `{"a":[${'{"b":1},'.repeat(bytes / 8)}1]}`;
/** No body matches, and each term examines all values. */
const MANY_TERMS = Array.from({ length: 90 }, (_, nth) => `-json.*.*.b:>${nth + 1}`).join(' ');

async function storeLarge(target: AttackTarget, count: number): Promise<void> {
  const body = manyValues(20_000_000);
  for (let nth = 0; nth < count; nth += 1) await capture(target, body);
}

async function addDestinations(target: AttackTarget, url: string, query: string): Promise<void> {
  for (let nth = 0; nth < 5; nth += 1)
    await call(target, 'POST', `${endpointPath(target)}/destinations`, { url: `${url}?${nth}`, query });
}

const search: Attack = {
  ...repeated('call-search-terms', 'searches with 90 terms through bodies of 20 MB', 4, async (target) => {
    await storeLarge(target, 3);
    return callBytes('GET', `/api/search?q=${encodeURIComponent(MANY_TERMS)}`, [`Cookie: ${target.cookie}`]);
  }),
  neighborCall: SEARCH,
};

const conditions: Attack = {
  name: 'deliver-conditions',
  what: 'captures of 20 MB for five destinations with conditions of 90 terms',
  maxSeconds: SECONDS + 20,
  neighborCall: SEARCH,
  async run(target) {
    await addDestinations(target, 'http://127.0.0.1:9/', MANY_TERMS);
    await storeLarge(target, 3);
    await sleep(SECONDS * 1000);
    return 'nothing';
  },
};

/** Checks of signatures that don't match, and suggestions why. `bytes`: of the body. */
function signatures(name: string, what: string, bytes: number): Attack {
  return repeated(name, what, 32, async (target) => {
    await call(target, 'PUT', `${endpointPath(target)}/signing-secret`, { scheme: 'github', secret: '"secret"' });
    await capture(target, manyValues(bytes), { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` });
    return callBytes('GET', `${endpointPath(target)}/requests/-1000000`, [`Cookie: ${target.cookie}`]);
  });
}

const exports: Attack = {
  name: 'export-unread',
  what: '200 exports of 1,000 requests and three bodies of 20 MB, not read',
  maxSeconds: SECONDS + 20,
  async run(target, answers) {
    await storeLarge(target, 3);
    await inParallel(1000, 16, () => capture(target, 'x'.repeat(2000)));
    await inParallel(200, 200, async () => {
      const socket = await open(target);
      if (socket === undefined) return;
      socket.once('data', (bytes: Buffer) => {
        answers.count(bytes);
        socket.pause();
      });
      await write(socket, callBytes('GET', '/api/export', [`Cookie: ${target.cookie}`]));
      await sleep(SECONDS * 1000);
    });
  },
};

/** A masked text frame, as clients send it. */
function frame(bytes: number): Buffer {
  const head = bytes < 126 ? [0x81, 0x80 | bytes] : [0x81, 0xfe, bytes >> 8, bytes & 255];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), Buffer.alloc(bytes, 'x')]);
}

/** `say` is sent again and again. The server closes such connections, and the attacker opens new ones. */
function liveTalk(name: string, what: string, say: Buffer): Attack {
  return {
    name,
    what,
    maxSeconds: SECONDS + 20,
    async run(target, answers) {
      await inParallel(100, 16, () => capture(target, 'x'.repeat(16_000)));
      const until = performance.now() + SECONDS * 1000;
      await inParallel(90, 90, async () => {
        while (performance.now() < until) {
          const socket = await open(target, { answers });
          if (socket === undefined) continue;
          await write(socket, upgradeBytes(`/ws?endpoint=${target.uid}`, target.cookie));
          await new Promise((resolve) => socket.once('data', resolve));
          while (performance.now() < until && (await write(socket, say)));
          socket.destroy();
        }
      });
    },
  };
}

/** A target that sends an endless response as fast as it is read. */
async function endlessTarget(): Promise<string> {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const pour = (response: ServerResponse): void => {
    while (!response.destroyed && response.write(piece));
    response.once('drain', () => pour(response));
  };
  const server = createServer((request, response) => {
    request.resume();
    pour(response);
  });
  return `http://127.0.0.1:${await listenLocally(server)}/`;
}

const replays: Attack = {
  name: 'replay-many',
  what: '2,000 replays at once of a body of 20 MB to a target that answers without end',
  maxSeconds: SECONDS + 20,
  async run(target, answers) {
    await storeLarge(target, 1);
    const url = await endlessTarget();
    const bodyFrom = { endpointUid: target.uid, id: -1_000_000 };
    const body = JSON.stringify({ method: 'POST', url, headers: [], bodyFrom });
    const bytes = callBytes('POST', '/api/replay', [`Cookie: ${target.cookie}`, 'Connection: close'], body);
    await inParallel(2000, 500, () => sendAlone(target, [bytes], { answers, maxMs: SECONDS * 1000 }));
  },
};

const deliveries: Attack = {
  name: 'deliver-endless',
  what: 'captures of 64 connections for five destinations that answer without end',
  neighborP99Ms: 100,
  maxSeconds: SECONDS + 20,
  async run(target, answers) {
    await addDestinations(target, await endlessTarget(), '');
    const until = performance.now() + SECONDS * 1000;
    const bytes = callBytes('POST', target.capturePath, [], 'x'.repeat(500));
    await inParallel(64, 64, async () => {
      const socket = await open(target, { answers });
      if (socket === undefined) return;
      while (performance.now() < until && (await write(socket, bytes)))
        await new Promise((resolve) => socket.once('data', resolve));
      socket.destroy();
    });
  },
};

export const featureFloods: readonly Attack[] = [
  search,
  conditions,
  signatures('call-signature', '32 connections that ask why the signature of a body of 256 KB is wrong', 250_000),
  signatures('call-signature-large', 'the same for a body of 20 MB', 20_000_000),
  exports,
  liveTalk(
    'live-small-frames',
    '90 web sockets that send frames of 2 bytes, and connect again when closed',
    Buffer.concat(Array.from({ length: 500 }, () => frame(2))),
  ),
  liveTalk(
    'live-large-frames',
    '90 web sockets that send frames of 60 KB, and connect again when closed',
    frame(60_000),
  ),
  replays,
  deliveries,
  repeated(
    'call-endpoint',
    '32 connections that ask for the figures of an endpoint with 1,000 requests',
    32,
    async (target) => {
      await inParallel(1000, 16, () => capture(target, 'x'.repeat(2000)));
      return callBytes('GET', endpointPath(target), [`Cookie: ${target.cookie}`]);
    },
  ),
];
