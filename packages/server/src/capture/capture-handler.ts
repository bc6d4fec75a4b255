import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientAddress } from '../client-address.ts';
import { encodeHead } from '../storage/request-head.ts';
import { answerCaptured, answerPreflight, answerRefused, isClosing } from './answers.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { CaptureReply } from './capture-reply.ts';
import { parseCaptureTarget } from './capture-target.ts';
import type { CachedEndpoint, EndpointCache } from './endpoint-cache.ts';
import { inspectHead, isAmbiguous } from './inspect-head.ts';
import type { HeadFacts } from './inspect-head.ts';
import { hideOwnCookies } from './own-cookies.ts';
import { endWithConnection, readBody } from './read-body.ts';
import type { BodyResult } from './read-body.ts';
import type { PlainHandler } from './plain-connection.ts';
import type { CaptureResult, PendingCapture, Recorder } from './recorder.ts';
import { SendingOrder } from './sending-order.ts';

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

/** When a sender that could not be served may come back. */
const RETRY_SECONDS = 1;

/**
 * The way of a captured request (design 4, contract 3), top to bottom. Runs before anything else for every target under `/h/`.
 * `expectsContinue`: the sender waits for `100 Continue` before it sends its body.
 */
export type CaptureHandler = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void;

export function createCaptureHandler(deps: CaptureDependencies): CaptureHandler {
  const order = new SendingOrder();
  return function capture(request, response, expectsContinue) {
    const { socket } = request;
    const isKeptBack = order.keepsBack(socket, () => {
      if (!isClosing(socket) && !response.headersSent) capture(request, response, expectsContinue);
    });
    if (isKeptBack) return;
    const target = parseCaptureTarget(request.url ?? '');
    const head = inspectHead(request.method ?? '', request.rawHeaders);
    if (isAmbiguous(request, head)) return answerRefused(request, response, 'BAD_REQUEST', { close: true });
    if (head.isPreflight) return answerPreflight(response, head);
    if (target === undefined) return answerRefused(request, response, 'ENDPOINT_NOT_FOUND');

    const known = deps.endpoints.peek(target.uid);
    const arriving = { request, response, target: target.rest, head, expectsContinue };
    if (known !== undefined) return receive(deps, order, known, arriving);
    const letOn = order.hold(socket);
    deps.endpoints
      .lookup(target.uid)
      .then(
        (endpoint) => {
          // Its body turned out to be broken meanwhile.
          if (response.headersSent) return;
          if (endpoint === undefined) answerRefused(request, response, 'ENDPOINT_NOT_FOUND');
          else receive(deps, order, endpoint, arriving);
        },
        (error: unknown) => {
          deps.onFailure(error);
          if (!response.headersSent)
            answerRefused(request, response, 'CAPTURE_UNAVAILABLE', { retryAfter: RETRY_SECONDS });
        },
      )
      .finally(letOn);
  };
}

/** A request whose head is there. */
interface Arriving {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What stands behind the uid. */
  readonly target: string;
  readonly head: HeadFacts;
  readonly expectsContinue: boolean;
}

function receive(deps: CaptureDependencies, order: SendingOrder, endpoint: CachedEndpoint, arriving: Arriving): void {
  const { request, response, target, head, expectsContinue } = arriving;
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
      return answerRefused(request, response, 'CAPTURE_UNAVAILABLE', { retryAfter: RETRY_SECONDS, close: true });
    const { method = '', rawHeaders, socket } = request;
    record(deps, endpoint, { method, target, rawHeaders, body: result, socket }, replyWith(request, response));
  };
  if (head.declaredLength <= 0 && !head.hasTransferEncoding) finish(null);
  else {
    const letOn = order.hold(request.socket);
    readBody(request, deps.maxBodyBytes, deps.budget, (result) => {
      finish(result);
      letOn();
    });
    if (head.hasUpgrade) endWithConnection(request);
  }
}

/** A request that is there whole, whoever has read it. */
interface Arrived {
  readonly method: string;
  /** What stands behind the uid. */
  readonly target: string;
  readonly rawHeaders: string[];
  readonly body: Buffer | null;
  readonly socket: Socket;
}

/** The last part of the way, the same for both readers. The body's bytes are counted in the budget, and given back here. */
function record(deps: CaptureDependencies, endpoint: CachedEndpoint, arrived: Arrived, reply: CaptureReply): void {
  const { method, rawHeaders, body } = arrived;
  hideOwnCookies(rawHeaders);
  const bodyIsText = body === null || isUtf8(body);
  const head = encodeHead(arrived.target, clientAddress(arrived, deps.trustProxy), bodyIsText, rawHeaders);
  const capture: PendingCapture = { endpointId: endpoint.id, method, flatHeaders: rawHeaders, head, body };
  const bytes = body?.length ?? 0;
  const taken = deps.recorder.push(capture, (result) => {
    deps.budget.give(bytes);
    if (result === 'failed') return reply.refused('CAPTURE_UNAVAILABLE', RETRY_SECONDS);
    if (result === 'gone') return reply.refused('ENDPOINT_NOT_FOUND');
    reply.captured(result.index);
    deps.onStored(endpoint, capture, result);
  });
  if (taken) return;
  deps.budget.give(bytes);
  reply.refused('CAPTURE_UNAVAILABLE', RETRY_SECONDS);
}

/** Answers through Node's response. */
function replyWith(request: IncomingMessage, response: ServerResponse): CaptureReply {
  return {
    captured: (index) => answerCaptured(response, index),
    refused: (code, retryAfter) => answerRefused(request, response, code, { retryAfter }),
  };
}

/**
 * The same way for a plain request, which is there whole. It is taken only when nothing stands against it; whatever must be refused or
 * looked up first is left to the parser and to the handler above, which find the same again and say so.
 */
export function createPlainHandler(deps: CaptureDependencies): PlainHandler {
  return function capturePlain({ method, target: whole, flatHeaders, body }, socket, reply) {
    const target = parseCaptureTarget(whole);
    const endpoint = target === undefined ? undefined : deps.endpoints.peek(target.uid);
    if (target === undefined || endpoint === undefined) return false;
    const bytes = body?.length ?? 0;
    if (bytes > deps.maxBodyBytes || (endpoint.expiresAt !== null && endpoint.expiresAt <= deps.now())) return false;
    if ((endpoint.bucket?.take() ?? 0) > 0 || !deps.budget.take(bytes)) return false;
    record(deps, endpoint, { method, target: target.rest, rawHeaders: flatHeaders, body, socket }, reply);
    return true;
  };
}
