import {
  LEAVES_BASE_PATH,
  MAX_DELIVERY_RESPONSE_BYTES,
  MAX_REASON_CHARS,
  endToEndHeaders,
  forwardedUrl,
  isDelivered,
  leavesBasePath,
  targetUrlSchema,
} from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import type { Remote } from '../../database/remote.ts';
import { decodeHead } from '../../database/stored-request.ts';
import type { RequestHead } from '../../database/stored-request.ts';
import { ProblemError } from '../../http/problem.ts';
import type { Forward, OutboundResponse } from '../replay/service.ts';
import type { requestQueries } from '../requests/queries.ts';
import type { Signatures } from '../signatures/service.ts';
import type { Attempt, DueDelivery, ActiveDestination } from './attempt-queries.ts';
import { forwardedHeaders, nextAttemptAt } from './delivery-rules.ts';
import type { DeliveryQueries } from './queries.ts';

const UNSIGNABLE =
  'The endpoint has no signing secret, so the request was not sent. Set the secret, or turn off signing for this destination.';

export interface AttemptOptions {
  readonly store: Pick<DeliveryQueries, 'findActiveDestination'> & Pick<Remote<typeof requestQueries>, 'findWhole'>;
  /** Sends with the same checks as a replay. */
  readonly forward: (request: Forward, signal: AbortSignal) => Promise<OutboundResponse>;
  /** How to renew signatures of an endpoint, for destinations with `sign`. */
  readonly signerOf: Signatures['signerOf'];
  /** Identifies this installation in forwarded requests, to detect loops. */
  readonly mark: string;
  readonly now: () => number;
}

/**
 * Sends a delivery once, to the present URL of its destination, because it may have waited for its turn. Calls `onBegun`
 * when the request leaves. `undefined` when it is not sent: it has ended meanwhile, or its destination is off or paused.
 */
export async function attemptDelivery(
  options: AttemptOptions,
  delivery: DueDelivery,
  { signal, onBegun }: { readonly signal: AbortSignal; readonly onBegun: () => void },
): Promise<Attempt | undefined> {
  const { store, forward, now } = options;
  const destination = await store.findActiveDestination(delivery.id);
  const captured = destination && (await store.findWhole(destination.endpointId, delivery.index));
  if (destination === undefined || captured === undefined) return undefined;
  const attempt = delivery.attempts + 1;
  const at = now();
  const began = performance.now();
  const { target, rawHeaders } = decodeHead(captured.head);
  const url = forwardedUrl(destination.url, destination.appendPath, target);
  const request = { method: captured.method, target, rawHeaders, body: captured.body ?? new Uint8Array() };
  let responseHeaders: RawHeaders = [];
  let outcome: Outcome;
  try {
    const sent = forward(await outboundRequest(options, destination, { ...delivery, attempt, url }, request), signal);
    onBegun();
    const response = await sent;
    responseHeaders = response.headers;
    outcome = responseOutcome(response);
  } catch (error) {
    outcome = failedOutcome(error, performance.now() - began);
  }
  signal.throwIfAborted();
  const next = { attempt, at: now(), responseHeaders, random: Math.random() };
  return {
    endpointId: destination.endpointId,
    index: delivery.index,
    deliveryId: delivery.id,
    kind: 'forward',
    destinationId: destination.id,
    url,
    method: captured.method,
    attempt,
    at,
    nextAttemptAt: isDelivered(outcome.status) ? null : nextAttemptAt(next),
    ...outcome,
  };
}

/** The captured request as the destination wants it. @throws ProblemError REPLAY_FAILED with a sentence */
async function outboundRequest(
  { signerOf, mark }: AttemptOptions,
  { endpointId, userId, url: baseUrl, appendPath, sign, signingScheme }: ActiveDestination,
  { id, attempt, url }: DueDelivery & { readonly attempt: number; readonly url: string },
  { method, target, rawHeaders, body }: Pick<RequestHead, 'target' | 'rawHeaders'> & Pick<Forward, 'method' | 'body'>,
): Promise<Forward> {
  // The captured path was appended, so the URL is checked again.
  const checked = targetUrlSchema.safeParse(url);
  if (!checked.success) throw new ProblemError('REPLAY_FAILED', { sentence: 'The URL is not valid.' });
  if (appendPath && leavesBasePath(baseUrl, target))
    throw new ProblemError('REPLAY_FAILED', { sentence: LEAVES_BASE_PATH });
  // First, because a sender may name any header in `Connection`, including those that are added here.
  const kept = endToEndHeaders(rawHeaders);
  const renew = sign ? await signerOf({ id: endpointId, signingScheme }) : undefined;
  // The secret was deleted. Receivers would reject the captured signature, and the owner would not learn why.
  if (sign && renew === undefined) throw new ProblemError('REPLAY_FAILED', { sentence: UNSIGNABLE });
  const headers = renew === undefined ? kept : await renew(kept, body);
  return {
    userId,
    method,
    url: checked.data,
    headers: forwardedHeaders(headers, { id, attempt, mark }),
    body,
    keptBytes: MAX_DELIVERY_RESPONSE_BYTES,
  };
}

/** The part of an attempt that depends on its response, or on the reason why there is none. */
type Outcome = Pick<
  Attempt,
  'status' | 'statusText' | 'error' | 'durationMs' | 'responseHeaders' | 'responseBody' | 'responseTruncated'
>;

/** The beginning of a response's body, which is all that is stored. `isCut`: the given body is incomplete. */
export function keptResponse(body: Uint8Array | null, isCut: boolean) {
  return {
    responseBody: body?.subarray(0, MAX_DELIVERY_RESPONSE_BYTES) ?? null,
    responseTruncated: isCut || (body?.length ?? 0) > MAX_DELIVERY_RESPONSE_BYTES,
  };
}

/** The outcome of an attempt that got a response. `delivery-rules.ts` decides which statuses are failures. */
export function responseOutcome({ status, statusText, headers, body, isCut, durationMs }: OutboundResponse): Outcome {
  return {
    status,
    statusText: statusText.slice(0, MAX_REASON_CHARS),
    error: null,
    durationMs,
    responseHeaders: headers.map(([key, value]) => ({ key, value })),
    ...keptResponse(body.length === 0 ? null : body, isCut),
  };
}

/** The outcome of an attempt without a response. Only problems have a sentence for the user, so other errors are not shown. */
export function failedOutcome(failure: unknown, durationMs: number): Outcome {
  const error = failure instanceof ProblemError ? failure.message : 'The request could not be sent.';
  const nothing = { responseHeaders: [], responseBody: null, responseTruncated: false };
  return { status: null, statusText: '', error, durationMs, ...nothing };
}
