import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddress } from '../client-address.ts';
import { encodeHead } from '../storage/request-head.ts';
import { answerCaptured, answerPreflight, answerRefused } from './answers.ts';
import type { ByteBudget } from './byte-budget.ts';
import { parseCaptureTarget } from './capture-target.ts';
import type { CachedEndpoint, EndpointCache } from './endpoint-cache.ts';
import { inspectHead, isAmbiguous } from './inspect-head.ts';
import type { HeadFacts } from './inspect-head.ts';
import { hideOwnCookies } from './own-cookies.ts';
import { endWithConnection, readBody } from './read-body.ts';
import type { BodyResult } from './read-body.ts';
import type { CaptureResult, PendingCapture, Recorder } from './recorder.ts';

export interface CaptureDependencies {
  readonly endpoints: EndpointCache;
  readonly recorder: Recorder;
  readonly budget: ByteBudget;
  readonly maxBodyBytes: number;
  readonly trustProxy: readonly string[];
  readonly now: () => number;
  /** Told of every stored capture; never awaited, can't fail the sender. */
  readonly onStored: (
    endpoint: CachedEndpoint,
    capture: PendingCapture,
    result: Exclude<CaptureResult, string>,
  ) => void;
  /** Told when the endpoint's lookup failed. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The way of a captured request (design 4, contract 3), top to bottom. Runs before anything else for every target under `/h/`.
 * `expectsContinue`: the sender waits for `100 Continue` before it sends its body.
 */
export type CaptureHandler = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void;

export function createCaptureHandler(deps: CaptureDependencies): CaptureHandler {
  return function capture(request, response, expectsContinue) {
    const target = parseCaptureTarget(request.url ?? '');
    const head = inspectHead(request.method ?? '', request.rawHeaders);
    if (isAmbiguous(request, head)) return answerRefused(request, response, 'BAD_REQUEST', { close: true });
    if (head.isPreflight) return answerPreflight(response, head.requestedMethod, head.requestedHeaders);
    if (target === undefined) return answerRefused(request, response, 'ENDPOINT_NOT_FOUND');

    const known = deps.endpoints.peek(target.uid);
    if (known !== undefined) return receive(deps, request, response, known, target.rest, head, expectsContinue);
    deps.endpoints.lookup(target.uid).then(
      (endpoint) => {
        if (endpoint === undefined) answerRefused(request, response, 'ENDPOINT_NOT_FOUND');
        else receive(deps, request, response, endpoint, target.rest, head, expectsContinue);
      },
      (error: unknown) => {
        deps.onFailure(error);
        answerRefused(request, response, 'CAPTURE_UNAVAILABLE', { retryAfter: 1 });
      },
    );
  };
}

function receive(
  deps: CaptureDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  endpoint: CachedEndpoint,
  target: string,
  head: HeadFacts,
  expectsContinue: boolean,
): void {
  if (endpoint.expiresAt !== null && endpoint.expiresAt <= deps.now())
    return answerRefused(request, response, 'ENDPOINT_EXPIRED');
  const wait = endpoint.bucket?.take() ?? 0;
  if (wait > 0) return answerRefused(request, response, 'RATE_LIMITED', { retryAfter: wait });
  if (head.declaredLength > deps.maxBodyBytes)
    return answerRefused(request, response, 'BODY_TOO_LARGE', { close: true });
  if (expectsContinue) response.writeContinue();
  const finish = (result: BodyResult): void => {
    if (result === 'cut-off') return;
    if (result === 'too-large') return answerRefused(request, response, 'BODY_TOO_LARGE', { close: true });
    if (result === 'no-room')
      return answerRefused(request, response, 'CAPTURE_UNAVAILABLE', { retryAfter: 1, close: true });
    record(deps, request, response, endpoint, target, result);
  };
  if (head.declaredLength <= 0 && !head.hasTransferEncoding) finish(null);
  else {
    readBody(request, deps.maxBodyBytes, deps.budget, finish);
    if (head.hasUpgrade) endWithConnection(request);
  }
}

function record(
  deps: CaptureDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  endpoint: CachedEndpoint,
  target: string,
  body: Buffer | null,
): void {
  hideOwnCookies(request.rawHeaders);
  const bodyIsText = body === null || isUtf8(body);
  const head = encodeHead(target, clientAddress(request, deps.trustProxy), bodyIsText, request.rawHeaders);
  const capture: PendingCapture = {
    endpointId: endpoint.id,
    method: request.method ?? '',
    flatHeaders: request.rawHeaders,
    head,
    body,
  };
  const bytes = body?.length ?? 0;
  const taken = deps.recorder.push(capture, (result) => {
    deps.budget.give(bytes);
    if (result === 'failed') return answerRefused(request, response, 'CAPTURE_UNAVAILABLE', { retryAfter: 1 });
    if (result === 'gone') return answerRefused(request, response, 'ENDPOINT_NOT_FOUND');
    answerCaptured(response, result.index);
    deps.onStored(endpoint, capture, result);
  });
  if (taken) return;
  deps.budget.give(bytes);
  answerRefused(request, response, 'CAPTURE_UNAVAILABLE', { retryAfter: 1 });
}
