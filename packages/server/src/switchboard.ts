import type { RequestListener } from 'node:http';
import { answerRefused } from './capture/answers.ts';
import type { CaptureHandler } from './capture/capture-handler.ts';
import { isCaptureTarget } from './capture/capture-target.ts';
import { inspectHead, isAmbiguous } from './capture/inspect-head.ts';
import type { LoopTurns } from './http/loop-turns.ts';

export interface Switchboard {
  readonly onRequest: RequestListener;
  /** For a request whose sender waits for `100 Continue` before it sends the body. */
  readonly onContinue: RequestListener;
}

/** Hands requests for `/h/` to the capture path before anything else runs. The others begin in turns of the event loop. */
export function createSwitchboard(
  capture: CaptureHandler,
  everythingElse: RequestListener,
  turns: LoopTurns,
): Switchboard {
  const others: RequestListener = (request, response) => {
    if (isAmbiguous(request, inspectHead(request.method ?? '', request.rawHeaders)))
      answerRefused(request, response, 'BAD_REQUEST', { close: true });
    else
      turns.run(request.socket, () => {
        // Nobody waits for the response any more.
        if (!request.socket.destroyed) everythingElse(request, response);
      });
  };
  return {
    onRequest(request, response) {
      if (isCaptureTarget(request.url ?? '')) capture(request, response, false);
      else others(request, response);
    },
    onContinue(request, response) {
      if (isCaptureTarget(request.url ?? '')) return capture(request, response, true);
      response.writeContinue();
      others(request, response);
    },
  };
}
