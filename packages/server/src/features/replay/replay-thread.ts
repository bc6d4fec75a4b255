import { isMainThread, parentPort } from 'node:worker_threads';
import { ProblemError } from '../../http/problem.ts';
import { sendRequest } from './send-request.ts';
import { lookUpInPublic, lookUpOnSystem } from './resolve-target.ts';
import type { FromThread, ToThread } from './worker-messages.ts';

/** The thread that sends replays, so that the targets' responses and TLS don't delay captures. */
const port = parentPort;
if (port === null || isMainThread) throw new Error('replay-thread.ts runs as a worker thread.');

const underWay = new Map<number, AbortController>();
const tell = (message: FromThread, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);

async function answer({ id, request }: Extract<ToThread, { request: unknown }>): Promise<void> {
  const signal = new AbortController();
  underWay.set(id, signal);
  try {
    const lookUp = request.allowPrivate ? lookUpOnSystem : lookUpInPublic;
    const { body, ...rest } = await sendRequest(request, signal.signal, lookUp);
    const own = movable(body);
    tell({ id, response: { ...rest, body: own } }, [own.buffer]);
  } catch (error) {
    if (error instanceof ProblemError) tell({ id, problem: { code: error.code, sentence: error.message } });
    else tell({ id, failure: error });
  } finally {
    underWay.delete(id);
  }
}

/** Bytes with their own memory, which can be transferred; a small `Buffer` shares a pool. */
function movable(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

// Only the thread client of the same build posts messages.
port.on('message', (message: ToThread) => {
  if ('request' in message) void answer(message);
  else underWay.get(message.id)?.abort();
});
