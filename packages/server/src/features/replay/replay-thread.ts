import { serveCalls } from '../../workers/worker-server.ts';
import { REPLAY_ERRORS } from './replay-failure.ts';
import { sendRequest } from './send-request.ts';
import type { OutboundRequest } from './send-request.ts';
import { lookUpInPublic, lookUpOnSystem } from './target.ts';

/** The thread that sends replays, so that the targets' responses and TLS don't delay captures. */
const methods = {
  async sendRequest(request: OutboundRequest, signal: AbortSignal) {
    const lookUp = request.allowPrivate ? lookUpOnSystem : lookUpInPublic;
    const { body, ...rest } = await sendRequest(request, signal, lookUp);
    // A copy has its own memory, which can be transferred. The block of a body may be larger than the body.
    return { ...rest, body: new Uint8Array(body) };
  },
};

export type ReplayMethods = typeof methods;

serveCalls({ methods, errors: REPLAY_ERRORS });
