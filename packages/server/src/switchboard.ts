import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answerRefused } from './capture/answers.ts';
import type { CaptureHandler } from './capture/capture-handler.ts';
import { isCaptureTarget } from './capture/capture-target.ts';
import { isAmbiguous } from './capture/inspect-head.ts';
import type { HeadFacts } from './capture/inspect-head.ts';
import type { LoopTurns } from './http/loop-turns.ts';

/** Handles a request, with what its head says. */
export type HeadListener = (request: IncomingMessage, response: ServerResponse, head: HeadFacts) => void;

export interface Switchboard {
  readonly onRequest: HeadListener;
  /** For a request whose sender waits for `100 Continue` before it sends the body. */
  readonly onContinue: HeadListener;
}

/** Hands requests for `/h/` to the capture path before anything else runs. The others begin in turns of the event loop. */
export function createSwitchboard(
  capture: CaptureHandler,
  everythingElse: RequestListener,
  turns: LoopTurns,
): Switchboard {
  const others: HeadListener = (request, response, head) => {
    if (isAmbiguous(request, head)) answerRefused(request, response, 'BAD_REQUEST', { close: true });
    else
      turns.run(request.socket, () => {
        // Nobody waits for the response any more.
        if (!request.socket.destroyed) everythingElse(request, response);
      });
  };
  return {
    onRequest(request, response, head) {
      if (isCaptureTarget(request.url ?? '')) capture(request, response, head, false);
      else others(request, response, head);
    },
    onContinue(request, response, head) {
      if (isCaptureTarget(request.url ?? '')) return capture(request, response, head, true);
      response.writeContinue();
      others(request, response, head);
    },
  };
}
