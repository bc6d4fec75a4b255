import { Transferred, serveCalls } from '../../workers/worker-server.ts';
import { REPLAY_ERRORS } from './replay-failure.ts';
import { sendRequest } from './send-request.ts';
import type { OutboundRequest } from './send-request.ts';
import { lookUpInPublic, lookUpOnSystem } from './target.ts';

/** The thread that sends replays, so that the targets' responses and TLS don't delay captures. */
const methods = {
  async sendRequest(request: OutboundRequest, signal: AbortSignal) {
    const lookUp = request.allowPrivate ? lookUpOnSystem : lookUpInPublic;
    const { body, ...rest } = await sendRequest(request, signal, lookUp);
    const own = movable(body);
    return new Transferred({ ...rest, body: own }, [own.buffer]);
  },
};

export type ReplayMethods = typeof methods;

/** Bytes with their own memory, which can be transferred; a small `Buffer` shares a pool. */
function movable(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

serveCalls({ methods, errors: REPLAY_ERRORS });
