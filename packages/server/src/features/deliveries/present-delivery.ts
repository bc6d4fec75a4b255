import { forwardedUrl, endpointTitle, isProvenAddress } from '@creel/contract';
import type { DeliveryAttempt, DeliverySummary, Destination, LiveDelivery } from '@creel/contract';
import { isoTime } from '../../iso-time.ts';
import { textOrBase64 } from '../../http/large-answer.ts';
import type { DeliveredNotice } from '../../bus/bus.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import type { AttemptWithoutResponse, PlannedDelivery, StoredAttempt } from './attempt-queries.ts';
import type { DestinationWithPending } from './destination-queries.ts';
import type { DeliveryState } from './outcome-queries.ts';
import type { RefusedCapture } from './plan-queries.ts';
import type { DeliveryQueries } from './queries.ts';
import type { RecordedAttempt } from './record-queries.ts';
import { pausedNoticeSchema } from './outcome-queries.ts';
import { compose, moment } from '../mail/service.ts';
import type { ComposeNotice } from '../mail/service.ts';

/** A destination as the API returns it. */
export function presentDestination(record: DestinationWithPending): Destination {
  const { id, url, appendPath, enabled, query, sign, pausedAt, pauseReason, pending, recentStatuses, createdAt } =
    record;
  return {
    id,
    url,
    appendPath,
    enabled,
    query,
    sign,
    state:
      pausedAt === null
        ? { name: 'active' }
        : { name: 'paused', since: isoTime(pausedAt), reason: pauseReason ?? 'unknown' },
    pending,
    recentStatuses: [...recentStatuses],
    createdAt: isoTime(createdAt),
  };
}

/** An attempt without its response, as in live messages. */
function presentSummary(attempt: Omit<AttemptWithoutResponse, 'endpointId' | 'index'>): DeliverySummary {
  return {
    id: attempt.id,
    deliveryId: attempt.deliveryId,
    kind: attempt.kind,
    destinationId: attempt.destinationId,
    url: attempt.url,
    method: attempt.method,
    attempt: attempt.attempt,
    status: attempt.status,
    statusText: attempt.statusText,
    error: attempt.error,
    durationMs: Math.round(attempt.durationMs),
    at: isoTime(attempt.at),
    nextAttemptAt: isoTime(attempt.nextAttemptAt),
  };
}

function liveDelivery(index: number, delivery: DeliverySummary, state: RequestRecord['delivery']): LiveDelivery {
  return { index, delivery, lastDelivery: state?.last ?? null, deliveryPending: state?.isPending ?? false };
}

/** A stored attempt, with the state of its request after it. */
export function presentRecorded(attempt: RecordedAttempt): LiveDelivery {
  return liveDelivery(attempt.index, presentSummary(attempt), attempt.state);
}

/** A capture that is not forwarded, with the reason in `error`. */
export function presentRefusal({ index, latest }: RefusedCapture): LiveDelivery {
  const { error, at } = latest;
  return liveDelivery(index, withoutAttempt({ error, at, nextAttemptAt: null }), { last: latest, isPending: false });
}

/** A request's state as a live message: it waits for its first attempt, is not forwarded, or no longer waits. */
function presentState({ index, receivedAt, plannedAt, isPending, last }: DeliveryState): LiveDelivery {
  if (plannedAt === null && !isPending && last?.error) return presentRefusal({ index, latest: last });
  const at = isoTime(plannedAt ?? receivedAt);
  const nextAttemptAt = plannedAt === null ? null : at;
  return liveDelivery(index, withoutAttempt({ error: null, at, nextAttemptAt }), { last, isPending });
}

/** There is no attempt yet, so the numbers are 0. */
function withoutAttempt(known: Pick<DeliverySummary, 'error' | 'at' | 'nextAttemptAt'>): DeliverySummary {
  return {
    id: 0,
    deliveryId: '',
    kind: 'forward',
    destinationId: null,
    url: '',
    method: '',
    attempt: 0,
    status: null,
    statusText: '',
    durationMs: 0,
    ...known,
  };
}

/**
 * The live messages of attempts, by index of the request and id of the attempt, or of the request's state for the id 0. In
 * the same order, without those that were deleted.
 */
export async function findLiveDeliveries(
  store: Pick<DeliveryQueries, 'findAttempts' | 'listDeliveryStates'>,
  endpointId: number,
  deliveries: DeliveredNotice['deliveries'],
): Promise<LiveDelivery[]> {
  const [states, attempts] = await Promise.all([
    store.listDeliveryStates(endpointId, [...new Set(deliveries.map(([index]) => index))]),
    store.findAttempts(deliveries.flatMap(([, id]) => (id === 0 ? [] : id))),
  ]);
  const stateOf = new Map(states.map((state) => [state.index, state]));
  const attemptOf = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  return deliveries.flatMap(([index, id]) => {
    const [state, attempt] = [stateOf.get(index), attemptOf.get(id)];
    if (state === undefined) return [];
    if (id === 0) return presentState(state);
    return attempt === undefined ? [] : liveDelivery(index, presentSummary(attempt), state);
  });
}

/** A delivery that waits for its first attempt, as the API returns it. `target` is the captured path and query. */
export function presentPlanned(
  { deliveryId, destinationId, url, appendPath, plannedAt }: PlannedDelivery,
  { method, target }: { readonly method: string; readonly target: string },
): DeliveryAttempt {
  const at = isoTime(plannedAt);
  return {
    ...withoutAttempt({ error: null, at, nextAttemptAt: at }),
    deliveryId,
    destinationId,
    url: forwardedUrl(url, appendPath, target),
    method,
    responseHeaders: [],
    responseBody: null,
    responseBodyEncoding: 'utf8',
    responseTruncated: false,
  };
}

/** An attempt as the API returns it. The body is text if it is valid UTF-8, otherwise base64. */
export function presentAttempt(attempt: StoredAttempt): DeliveryAttempt {
  const { responseBody, responseTruncated } = attempt;
  const { bytes, encoding } = textOrBase64(Buffer.from(responseBody ?? []), responseTruncated);
  return {
    ...presentSummary(attempt),
    responseHeaders: [...attempt.responseHeaders],
    responseBody: responseBody === null ? null : bytes.toString(encoding),
    responseBodyEncoding: encoding,
    responseTruncated,
  };
}

/** The email about a paused destination, to the owner's confirmed address. */
export const composePausedNotice: ComposeNotice = (content, user, publicUrl) => {
  const notice = pausedNoticeSchema.safeParse(content);
  if (!notice.success) return undefined;
  if (!isProvenAddress(user, user.email)) return 'unwanted';
  const { url, reason, pausedAt, endpointUid: uid, endpointName: name } = notice.data;
  const title = endpointTitle({ uid, name });
  const message = compose(`Forwarding of ${title} is paused`, [
    `Creel paused forwarding from ${title} to ${url} on ${moment(pausedAt)} UTC.`,
    reason,
    'New requests are still captured, and they wait for the destination. Nothing is lost. Resume the destination when it works again:',
    { label: `Open ${title}`, url: `${publicUrl}/endpoints/${uid}` },
  ]);
  return { to: user.email, message };
};
