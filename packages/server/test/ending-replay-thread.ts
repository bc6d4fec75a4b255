import { REPLAY_ERRORS } from '../src/features/replay/replay-failure.ts';
import type { OutboundRequest } from '../src/features/replay/send-request.ts';
import { serveCalls } from '../src/workers/worker-server.ts';

/** Ends the thread at `/end`, does not answer at `/hang` until then, and answers with its number elsewhere. */
const methods = {
  async sendRequest({ url }: OutboundRequest) {
    const { pathname } = new URL(url);
    if (pathname === '/end')
      setImmediate(() => {
        throw new Error('a bug of the sender');
      });
    if (pathname === '/end' || pathname === '/hang') await new Promise(() => {});
    return { status: 200, statusText: '', headers: [], body: new Uint8Array(), isCut: false, durationMs: 1 };
  },
};

serveCalls({ methods, errors: REPLAY_ERRORS });
