import type { RequestListener } from 'node:http';
import { answerRefused } from './capture/answers.ts';
import type { CaptureHandler } from './capture/capture-handler.ts';
import { isCaptureTarget } from './capture/capture-target.ts';
import { inspectHead, isAmbiguous } from './capture/inspect-head.ts';
import { Turnstile } from './turnstile.ts';

export interface Switchboard {
  readonly onRequest: RequestListener;
  /** For a request whose sender waits for `100 Continue` before it sends the body. */
  readonly onContinue: RequestListener;
}

/** Whose a request is: capture's, before anything else runs (design 4), or everybody else's, one of whom begins per turn of the loop. */
export function createSwitchboard(capture: CaptureHandler, everythingElse: RequestListener): Switchboard {
  const turnstile = new Turnstile();
  const others: RequestListener = (request, response) => {
    if (isAmbiguous(request, inspectHead(request.method ?? '', request.rawHeaders)))
      answerRefused(request, response, 'BAD_REQUEST', { close: true });
    else turnstile.enter(() => everythingElse(request, response));
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
