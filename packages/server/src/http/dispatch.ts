import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answerRefused } from './raw-response.ts';
import { normalAddress } from './client-address.ts';
import { isAmbiguous } from './inspect-head.ts';
import type { HeadFacts } from './inspect-head.ts';
import type { LoopTurns } from './loop-turns.ts';

/** Handles a request with the facts of its head. */
export type HeadListener = (request: IncomingMessage, response: ServerResponse, head: HeadFacts) => void;

/** Handles a request before all other code. `expectsContinue`: the sender waits for `100 Continue` before its body. */
export type FirstHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  head: HeadFacts,
  expectsContinue: boolean,
) => void;

export interface Dispatch {
  readonly onRequest: HeadListener;
  /** For requests that wait for `100 Continue` before their body. */
  readonly onContinue: HeadListener;
}

export interface DispatchTargets {
  /** True for a request target that `capture` handles. */
  readonly isCapture: (target: string) => boolean;
  readonly capture: FirstHandler;
  readonly everythingElse: RequestListener;
}

/** Passes captures on immediately. Other requests start in turns of the event loop, which client addresses share. */
export function createDispatch({ isCapture, capture, everythingElse }: DispatchTargets, turns: LoopTurns): Dispatch {
  const others: HeadListener = (request, response, head) => {
    if (isAmbiguous(request, head)) answerRefused(request, response, 'BAD_REQUEST', { close: true });
    else
      turns.run(normalAddress(request.socket.remoteAddress ?? ''), () => {
        // The client may have left.
        if (!request.socket.destroyed) everythingElse(request, response);
      });
  };
  return {
    onRequest(request, response, head) {
      if (isCapture(request.url ?? '')) capture(request, response, head, false);
      else others(request, response, head);
    },
    onContinue(request, response, head) {
      if (isCapture(request.url ?? '')) return capture(request, response, head, true);
      response.writeContinue();
      others(request, response, head);
    },
  };
}
