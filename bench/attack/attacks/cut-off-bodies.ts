import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closed, inParallel, open, sendAlone, write } from '../sockets.ts';
import type { AnswerCount, AttackTarget } from '../sockets.ts';
import type { Attack } from './attack.ts';

const KIB = 1024;
const COUNT = 1000;
const AT_ONCE = 50;
/** How long a sender waits for the server to close the connection. */
const CLOSE_MS = 3000;

const LENGTH = `Content-Length: ${128 * KIB}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const HALF = Buffer.alloc(64 * KIB, 'x');
const HALF_CHUNK = Buffer.concat([Buffer.from(`${(128 * KIB).toString(16)}\r\n`), HALF]);
const WHOLE_CHUNK = Buffer.concat([Buffer.from(`${HALF.length.toString(16)}\r\n`), HALF, Buffer.from('\r\n')]);

const post = (path: string, ...lines: string[]): Buffer =>
  Buffer.from(`POST ${path} HTTP/1.1\r\nHost: h\r\n${lines.join('\r\n')}\r\n\r\n`);

type Bytes = (target: AttackTarget) => Buffer;
type Goodbye = (socket: Socket) => void | Promise<void>;

const sayNoMore: Goodbye = (socket) => void socket.end();
const waitForIt: Goodbye = () => undefined;
/** Waits a moment, because a reset overtakes bytes that the server has not read yet. */
const reset: Goodbye = async (socket) => {
  await sleep(50);
  socket.resetAndDestroy();
};

async function sendCut(target: AttackTarget, bytes: Buffer, goodbye: Goodbye, answers: AnswerCount): Promise<void> {
  const socket = await open(target, { answers });
  if (socket === undefined) return;
  await write(socket, bytes);
  await goodbye(socket);
  await closed(socket, CLOSE_MS);
  socket.destroy();
}

function cutOff(name: string, what: string, bytes: Bytes, goodbye: Goodbye): Attack {
  return {
    name,
    what: `${COUNT.toLocaleString('en')} ${what}`,
    maxSeconds: 25,
    async run(target, answers) {
      const sent = bytes(target);
      await inParallel(COUNT, AT_ONCE, () => sendCut(target, sent, goodbye, answers));
    },
  };
}

/** 22 connections of 12 MiB fill the whole body budget. */
const largeBodies: Attack = {
  name: 'cut-large-bodies',
  what: '22 bodies of 12 MiB that end one byte early, then FIN',
  maxSeconds: 25,
  async run(target, answers) {
    const body = Buffer.alloc(12 * KIB * KIB, 'x');
    const bytes = Buffer.concat([post(target.capturePath, `Content-Length: ${body.length + 1}`), body]);
    await inParallel(22, 4, () => sendCut(target, bytes, sayNoMore, answers));
  },
};

/** Senders that stop in the middle of a body and wait for the server's time-out, which comes after 60 s. */
const slowBodies: Attack = {
  name: 'slow-bodies',
  what: '50 bodies of 1 MiB that stop in the middle until the server hangs up',
  maxSeconds: 80,
  async run(target, answers) {
    const half = Buffer.alloc(512 * KIB, 'x');
    const bytes = Buffer.concat([post(target.capturePath, `Content-Length: ${KIB * KIB}`), half]);
    await inParallel(50, 50, () => sendAlone(target, [bytes], { answers, maxMs: 75_000 }));
  },
};

/** Every chunk of one byte becomes an object of about a hundred bytes, but counts as one byte in a budget of body bytes. */
function tinyChunks(name: string, what: string, head: Bytes, bytesEach: number, connections: number): Attack {
  return {
    name,
    what,
    maxSeconds: 25,
    async run(target, answers) {
      const chunks = Buffer.from('1\r\n1\r\n'.repeat(10_000));
      await inParallel(connections, connections, async () => {
        const socket = await open(target, { answers });
        if (socket === undefined) return;
        let taken = await write(socket, head(target));
        for (let sent = 0; taken && sent < bytesEach; sent += 10_000) taken = await write(socket, chunks);
        await sleep(8000);
      });
    },
  };
}

export const cutOffBodies: readonly Attack[] = [
  cutOff(
    'cut-length',
    'half bodies with a length, then FIN',
    (t) => Buffer.concat([post(t.capturePath, LENGTH), HALF]),
    sayNoMore,
  ),
  cutOff(
    'cut-chunked',
    'half bodies in chunks, then FIN',
    (t) => Buffer.concat([post(t.capturePath, CHUNKED), HALF_CHUNK]),
    sayNoMore,
  ),
  cutOff('cut-reset', 'half bodies, then RST', (t) => Buffer.concat([post(t.capturePath, LENGTH), HALF]), reset),
  cutOff(
    'cut-bad-chunk',
    'bodies with a bad chunk size after 64 KiB',
    (t) => Buffer.concat([post(t.capturePath, CHUNKED), WHOLE_CHUNK, Buffer.from('ZZ\r\n')]),
    waitForIt,
  ),
  cutOff(
    'cut-second',
    'whole requests, each followed by half a body and FIN',
    (t) =>
      Buffer.concat([post(t.capturePath, 'Content-Length: 2'), Buffer.from('{}'), post(t.capturePath, LENGTH), HALF]),
    sayNoMore,
  ),
  cutOff(
    'cut-call',
    'half bodies of `POST /api/login`, no account, then FIN',
    () => Buffer.concat([post('/api/login', 'Content-Type: application/json', LENGTH), HALF]),
    sayNoMore,
  ),
  largeBodies,
  slowBodies,
  tinyChunks(
    'tiny-chunks',
    '8 bodies of 5 MB in chunks of one byte, never ended',
    (t) => post(t.capturePath, CHUNKED),
    5_000_000,
    8,
  ),
  tinyChunks(
    'tiny-chunks-call',
    '60 bodies of `POST /api/login` of 1 MB in chunks of one byte, no account',
    () => post('/api/login', 'Content-Type: application/json', CHUNKED),
    1_000_000,
    60,
  ),
];
