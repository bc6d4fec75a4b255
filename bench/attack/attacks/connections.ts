import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closed, inParallel, open, write } from '../sockets.ts';
import type { AttackTarget } from '../sockets.ts';
import type { Attack } from './attack.ts';

const HOLD_MS = 12_000;

/** Opens `count` connections and keeps them. */
async function openMany(target: AttackTarget, count: number, first?: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  await inParallel(count, 100, async () => {
    const socket = await open(target);
    if (socket === undefined) return;
    sockets.push(socket);
    if (first !== undefined) await write(socket, first);
  });
  return sockets;
}

const openCount = (sockets: readonly Socket[]): string =>
  `${sockets.filter((socket) => !socket.destroyed).length.toLocaleString('en')} of ${sockets.length.toLocaleString('en')} still open at the end`;

function held(name: string, what: string, count: number, first?: (target: AttackTarget) => string): Attack {
  return {
    name,
    what,
    maxSeconds: 40,
    async run(target) {
      const sockets = await openMany(target, count, first?.(target));
      await sleep(HOLD_MS);
      return openCount(sockets);
    },
  };
}

const slowHeads: Attack = {
  name: 'slow-heads',
  what: '2,000 heads at a byte per second',
  maxSeconds: 40,
  async run(target) {
    const sockets = await openMany(target, 2000, 'P');
    const head = `OST ${target.capturePath} HTTP/1.1`;
    for (let at = 0; at < 18; at += 1) {
      await sleep(1000);
      for (const socket of sockets) if (!socket.destroyed) socket.write(head[at] ?? 'x');
    }
    return openCount(sockets);
  },
};

/** Requests a large response on each connection and reads nothing. */
const slowReaders: Attack = {
  name: 'slow-readers',
  what: '500 × 20 requests for a file of the web app, answers not read',
  maxSeconds: 40,
  async run(target) {
    const request = `GET ${target.staticPath} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(20);
    const sockets: Socket[] = [];
    await inParallel(500, 100, async () => {
      const socket = await open(target);
      if (socket === undefined) return;
      socket.pause();
      sockets.push(socket);
      await write(socket, request);
    });
    await sleep(HOLD_MS);
    return openCount(sockets);
  },
};

/** Opens and closes connections as fast as possible. */
function churn(name: string, what: string, count: number, say: (target: AttackTarget) => string | undefined): Attack {
  return {
    name,
    what,
    maxSeconds: 40,
    async run(target, answers) {
      const until = performance.now() + 20_000;
      const bytes = say(target);
      await inParallel(count, 100, async () => {
        if (performance.now() > until) return;
        const socket = await open(target, { answers });
        if (socket === undefined) return;
        if (bytes !== undefined) {
          await write(socket, bytes);
          await closed(socket, 5000);
        }
        socket.destroy();
      });
    },
  };
}

export const connectionAttacks: readonly Attack[] = [
  held('idle', '5,000 connections that say nothing', 5000),
  held(
    'idle-kept',
    '5,000 connections that say nothing after one capture',
    5000,
    ({ capturePath }) => `GET ${capturePath} HTTP/1.1\r\nHost: h\r\n\r\n`,
  ),
  held(
    'idle-continue',
    '1,000 senders that wait for `100 Continue` and then say nothing',
    1000,
    ({ capturePath }) =>
      `POST ${capturePath} HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n`,
  ),
  held('connections-all', 'as many connections from one address as one process may open', 30_000),
  slowHeads,
  slowReaders,
  churn('churn', '20,000 connections that close at once', 20_000, () => undefined),
  churn('churn-rubbish', '10,000 connections that send what is not HTTP', 10_000, () => '\0\0\0\0\r\n\r\n'),
];
