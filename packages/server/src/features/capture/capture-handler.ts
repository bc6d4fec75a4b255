import { parseJson } from '@creel/contract';
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { z } from 'zod';
import type { Metrics } from '../../metrics.ts';
import type { ClientAddressOf } from '../../http/client-address.ts';
import { encodeHead } from '../../database/stored-request.ts';
import type { StoredAs } from '../../database/stored-request.ts';
import { answerCaptured, answerPreflight, answerRefused } from '../../http/raw-response.ts';
import type { Refusal } from '../../http/problem.ts';
import type { CachedEndpoint, EndpointCache } from './endpoint-cache.ts';
import { freeBytes } from '../../http/body-buffer.ts';
import { hideOwnCookies } from '../../http/cookies.ts';
import type { RequestHandler } from '../../http/listener.ts';
import type { CaptureReply, Verdict } from '../../http/plain-request.ts';
import type { PlainConnectionOptions } from '../../http/plain-connection.ts';
import { endWithConnection, readBody } from '../../http/read-body.ts';
import type { MemoryBudget, Reservation } from '../../limits/memory-budget.ts';
import type { CaptureWriter, PendingCapture } from './capture-writer.ts';

/** Value of `Retry-After` in seconds for a capture that could not be stored. */
const RETRY_SECONDS = 1;

export interface CaptureDependencies {
  readonly endpoints: Pick<EndpointCache, 'peek' | 'lookup'>;
  /** For the bodies that arrive or wait. */
  readonly budget: MemoryBudget;
  readonly writer: Pick<CaptureWriter, 'push'>;
  readonly maxBodyBytes: number;
  readonly clientAddressOf: ClientAddressOf;
  readonly now: () => number;
  readonly metrics: Pick<Metrics, 'countRead' | 'countLogged' | 'countFailed'>;
  /**
   * Stores the source of an endpoint without one. The sender is answered afterwards, so that its next call sees the
   * source. `undefined` if there is nothing to store. Never rejects, and reads the body only before it returns.
   */
  readonly detectSource: (endpoint: CachedEndpoint, capture: PendingCapture) => Promise<void> | undefined;
  /** Called for every stored capture. It must copy what it keeps of the body, whose memory is freed afterwards. */
  readonly onStored: (endpoint: CachedEndpoint, capture: PendingCapture, stored: StoredAs) => void;
  readonly onLookupFailure: (error: unknown) => void;
}

/** A request whose head has arrived. */
interface ArrivingRequest {
  readonly reader: 'plain' | 'parser';
  readonly method: string;
  /** As sent. */
  readonly target: string;
  readonly rawHeaders: string[];
  readonly socket: Socket;
  /** Declared length of the body, or -1. */
  readonly declaredLength: number;
  /** Bytes of the body that have already arrived. */
  readonly bytesAtHand: number;
}

/** Accepts or rejects a request of either reader before its body is read; synchronous when its endpoint is cached. */
function admit(deps: CaptureDependencies, request: ArrivingRequest): Verdict | Promise<Verdict> {
  const target = parseCaptureTarget(request.target);
  if (target === undefined) return { code: 'ENDPOINT_NOT_FOUND' };
  const { uid, rest } = target;
  const known = deps.endpoints.peek(uid);
  if (known !== undefined) return check(deps, known, request, rest);
  return deps.endpoints.lookup(uid).then(
    (endpoint) => (endpoint === undefined ? { code: 'ENDPOINT_NOT_FOUND' } : check(deps, endpoint, request, rest)),
    (error: unknown) => {
      deps.onLookupFailure(error);
      return unavailable(deps);
    },
  );
}

/** The order matters: a request without memory takes no rate-limit token, and every request takes at most one. */
function check(deps: CaptureDependencies, endpoint: CachedEndpoint, request: ArrivingRequest, rest: string): Verdict {
  const { budget, maxBodyBytes, now } = deps;
  if (endpoint.expiresAt !== null && endpoint.expiresAt <= now()) return { code: 'ENDPOINT_EXPIRED' };
  if (request.declaredLength > maxBodyBytes) return { code: 'BODY_TOO_LARGE', close: true };
  const reservation = budget.reserve(endpoint.userId);
  if (!reservation.grow(request.bytesAtHand)) return unavailable(deps);
  const wait = endpoint.bucket?.consume() ?? 0;
  if (wait > 0) {
    reservation.release();
    return { code: 'RATE_LIMITED', retryAfter: wait };
  }
  return {
    reservation,
    refuseForMemory: () => unavailable(deps),
    capture: (body, reply) => storeRequest(deps, { request, endpoint, reservation, rest, body }, reply),
  };
}

/** Refuses a capture that could not be stored, or for which there was no memory. */
function unavailable({ metrics }: CaptureDependencies): Refusal {
  metrics.countFailed();
  return { code: 'CAPTURE_UNAVAILABLE', retryAfter: RETRY_SECONDS };
}

interface CompleteRequest {
  readonly request: ArrivingRequest;
  readonly endpoint: CachedEndpoint;
  /** Released when the body is stored or rejected. */
  readonly reservation: Reservation;
  /** The part of the target after the uid. */
  readonly rest: string;
  readonly body: Buffer | null;
}

function storeRequest(
  deps: CaptureDependencies,
  { request, endpoint, reservation, rest, body }: CompleteRequest,
  reply: CaptureReply,
): void {
  const { method, rawHeaders } = request;
  deps.metrics.countRead(request.reader);
  hideOwnCookies(rawHeaders);
  const bodyIsText = body === null || isUtf8(body);
  const challenge = slackChallenge(method, body);
  const head = encodeHead(rest, deps.clientAddressOf(request), bodyIsText, rawHeaders);
  const { id: endpointId, userId } = endpoint;
  const capture: PendingCapture = { endpointId, userId, method, flatHeaders: rawHeaders, head, body };
  const isQueued = deps.writer.push(capture, (result) => {
    reservation.release();
    if (result === 'logged') {
      deps.metrics.countLogged();
      return reply.captured(undefined, challenge);
    }
    if (result === 'failed') return reply.refused(unavailable(deps));
    if (result === 'notFound') return reply.refused({ code: 'ENDPOINT_NOT_FOUND' });
    const source = deps.detectSource(endpoint, capture);
    if (source === undefined) reply.captured(result.index, challenge);
    else void source.then(() => reply.captured(result.index, challenge));
    deps.onStored(endpoint, capture, result);
    if (body !== null) freeBytes(body);
  });
  if (isQueued) return;
  reservation.release();
  reply.refused(unavailable(deps));
}

/** Slack's verification of a URL has about 140 bytes. Longer bodies, such as those of events, are not searched. */
const MAX_VERIFICATION_BYTES = 512;
const VERIFICATION_MARK = '"url_verification"';

/** ASCII without quotes and angle brackets, so nothing that a stranger writes is repeated in the response. */
const verificationSchema = z.object({
  type: z.literal('url_verification'),
  challenge: z.string().regex(/^[\w.~+/=-]+$/),
});

/**
 * The value that Slack expects in the response before it accepts a URL for events; `undefined` for other requests.
 * https://api.slack.com/events/url_verification
 */
export function slackChallenge(method: string, body: Buffer | null): string | undefined {
  if (method !== 'POST' || body === null || body.length > MAX_VERIFICATION_BYTES || !body.includes(VERIFICATION_MARK))
    return undefined;
  return verificationSchema.safeParse(parseJson(body.toString())).data?.challenge;
}

/** Admits requests from the plain reader. */
export function createPlainAdmit(deps: CaptureDependencies): PlainConnectionOptions['admit'] {
  return function admitPlain(
    { method, target, flatHeaders: rawHeaders, bodyLength: declaredLength },
    socket,
    bytesAtHand,
  ) {
    return admit(deps, { reader: 'plain', method, target, rawHeaders, socket, declaredLength, bytesAtHand });
  };
}

/** Captures requests that Node's parser has read. */
export function createCaptureHandler(deps: CaptureDependencies): RequestHandler {
  return function capture(request, response, head, expectsContinue) {
    if (head.preflight !== undefined) return answerPreflight(response, head.preflight);
    const reply: CaptureReply = {
      captured: (index, challenge) => answerCaptured(response, index, challenge),
      refused: (refusal) => answerRefused(response, refusal),
    };
    const receive = (verdict: Verdict): void => {
      if ('code' in verdict) return reply.refused(verdict);
      if (expectsContinue) response.writeContinue();
      if (head.declaredLength <= 0 && !head.hasTransferEncoding) return verdict.capture(null, reply);
      readBody(request, { bytes: deps.maxBodyBytes }, verdict.reservation, (result) => {
        if (result === 'cut-off') return;
        if (result === 'too-large' || result === 'too-many-parts')
          return reply.refused({ code: 'BODY_TOO_LARGE', close: true });
        if (result === 'no-memory') return reply.refused({ ...verdict.refuseForMemory(), close: true });
        verdict.capture(result, reply);
      });
      if (head.hasUpgrade) endWithConnection(request);
    };
    const { method = '', url: target = '', rawHeaders, socket } = request;
    const { declaredLength } = head;
    const arriving = { reader: 'parser', method, target, rawHeaders, socket, declaredLength, bytesAtHand: 0 } as const;
    const verdict = admit(deps, arriving);
    if (!(verdict instanceof Promise)) return receive(verdict);
    void verdict.then((late) => {
      // The sender may have aborted meanwhile.
      if (!response.headersSent && !socket.destroyed) receive(late);
      else if ('reservation' in late) late.reservation.release();
    });
  };
}

const PREFIX = '/h/';
const AUTHORITY = /^https?:\/\/[^/?#]*/i;
const UID = /^[A-Za-z0-9_-]+/;

/** Whether a target belongs to the capture path. Nothing is decoded or normalized: `/./h/x` does not match. */
export function isCaptureTarget(target: string): boolean {
  return target.startsWith(PREFIX) || (!target.startsWith('/') && target.replace(AUTHORITY, '').startsWith(PREFIX));
}

/**
 * The endpoint's uid, and the rest of a request target exactly as sent. Of the absolute form (RFC 9112 3.2.2) only the
 * path is used. `undefined` without a uid.
 */
function parseCaptureTarget(target: string): { readonly uid: string; readonly rest: string } | undefined {
  const path = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const uid = UID.exec(path.slice(PREFIX.length))?.[0];
  if (uid === undefined) return undefined;
  const rest = path.slice(PREFIX.length + uid.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? { uid, rest } : undefined;
}
