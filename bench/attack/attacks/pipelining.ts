import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressOf, inParallel, open, writeUntil } from '../sockets.ts';
import type { AnswerCount, AttackTarget } from '../sockets.ts';
import type { Attack } from './attack.ts';

const ALL_SECONDS = 20;
/** Requests in one write. */
const BLOCK = 500;

const TARGETS: readonly { readonly name: string; readonly path: (target: AttackTarget) => string }[] = [
  { name: 'unknown', path: () => '/h/x' },
  { name: 'known', path: ({ capturePath }) => capturePath },
  { name: 'api', path: () => '/api/x' },
  { name: 'user', path: () => '/api/user' },
  { name: 'page', path: () => '/' },
  { name: 'file', path: ({ staticPath }) => staticPath },
];

interface Flood {
  readonly connections: number;
  readonly requestsEach: number;
  /** True if the sender reads the responses. */
  readonly isReading: boolean;
  readonly path: string;
}

async function flood(
  target: AttackTarget,
  answers: AnswerCount,
  { connections, requestsEach, isReading, path }: Flood,
): Promise<string> {
  const block = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(BLOCK));
  const until = performance.now() + (ALL_SECONDS - 3) * 1000;
  const sockets: Socket[] = [];
  let sent = 0;
  await inParallel(connections, connections, async (nth) => {
    const socket = await open(target, { localAddress: connections > 1 ? addressOf(nth) : undefined });
    if (socket === undefined) return;
    sockets.push(socket);
    if (isReading) answers.follow(socket);
    else socket.pause();
    for (let at = 0; at < requestsEach; at += BLOCK) {
      if (!(await writeUntil(socket, block, until))) break;
      sent += BLOCK;
    }
  });
  const all = connections * requestsEach;
  while (performance.now() < until && answers.total < all && sockets.some((socket) => !socket.destroyed))
    await sleep(100);
  return `${sent.toLocaleString('en')} of ${all.toLocaleString('en')} sent; ${isReading ? answers.toString() : 'nothing read'}`;
}

function pipelined(shape: 'one' | 'many', isReading: boolean): Attack[] {
  const [connections, requestsEach] = shape === 'one' ? [1, 200_000] : [1000, 2000];
  return TARGETS.map(({ name, path }) => ({
    name: `pipelined-${shape}-${name}${isReading ? '' : '-unread'}`,
    what: `${connections.toLocaleString('en')} × ${requestsEach.toLocaleString('en')} \`GET\`, ${name}${isReading ? '' : ', answers not read'}`,
    maxSeconds: ALL_SECONDS,
    run: (target, answers) => flood(target, answers, { connections, requestsEach, isReading, path: path(target) }),
  }));
}

/** Requests with heads of 60 KiB, sent ahead of a lookup that holds them back. */
const largeHeads: Attack = {
  name: 'pipelined-large-heads',
  what: '200 × 40 requests with 60 KiB of headers to unknown endpoints, answers not read',
  maxSeconds: ALL_SECONDS,
  async run(target) {
    const head = `GET /h/x HTTP/1.1\r\nHost: h\r\n${`X-Filler: ${'x'.repeat(1000)}\r\n`.repeat(60)}\r\n`;
    const block = Buffer.from(head.repeat(10));
    const until = performance.now() + (ALL_SECONDS - 3) * 1000;
    await inParallel(200, 200, async (nth) => {
      const socket = await open(target, { localAddress: addressOf(nth) });
      socket?.pause();
      for (let at = 0; socket !== undefined && at < 4; at += 1) {
        if (!(await writeUntil(socket, block, until))) return;
      }
    });
    await sleep(Math.min(5000, Math.max(0, until - performance.now())));
    return 'nothing read';
  },
};

export const pipelining: readonly Attack[] = [
  ...pipelined('one', true),
  ...pipelined('one', false),
  ...pipelined('many', true),
  ...pipelined('many', false),
  largeHeads,
];
