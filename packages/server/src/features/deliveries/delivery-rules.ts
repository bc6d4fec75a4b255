import {
  FORWARDING_HEADERS,
  firstHeader,
  isForwardingHeader,
  loopRefusal,
  MAX_FAILURES_IN_A_ROW,
  METHODS_WITHOUT_REPLAY,
  viaHeader,
} from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { createHmac, randomBytes } from 'node:crypto';

/** Decisions about deliveries: when, where, with which headers, and when to stop. No clock, no storage, no network. */

/** A new id of a replay or a report: 128 random bits. */
export function newDeliveryId(): string {
  return `dlv_${randomBytes(16).toString('base64url')}`;
}

/** A capture and a destination that it is sent to. */
export interface Planned {
  readonly destinationId: number;
  readonly index: number;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
}

/**
 * The id of a forwarded delivery. After a power cut, a lost plan is made again with the same ids, so a receiver can
 * drop repeats. The time distinguishes captures that get the same index after a restored backup. It comes first, so
 * that ids that are planned together are adjacent in the database's index.
 */
export function deliveryIdOf(secret: string, { destinationId, index, receivedAt }: Planned): string {
  const digest = createHmac('sha256', secret).update(`${destinationId} ${index} ${receivedAt}`).digest();
  return `dlv_${receivedAt.toString(16).padStart(12, '0')}${digest.subarray(0, 16).toString('base64url')}`;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits after the first, second, … failed attempt. After the last one the delivery has failed. */
const WAITS_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR];
/** Random addition to a wait, so that the deliveries of an outage don't all return at once. */
const MAX_JITTER = 0.2;
/** Longest wait that a `Retry-After` can ask for. */
const MAX_RETRY_AFTER_MS = 6 * HOUR;

/** The longest wait by the number of attempts, if no response asks for a longer one. */
export const MAX_WAITS_MS = [0, ...WAITS_MS.map((wait) => Math.round(wait * (1 + MAX_JITTER)))];
/** Milliseconds that a clock may be set back without an effect on waits. */
export const CLOCK_ERROR_MS = 5 * SECOND;

/** Planning may wait while each destination is overdue by this much, and the endpoint has this many pending deliveries. */
const BEHIND_MS = 250;
const BEHIND_PENDING = 100;

/** The `lastDelivery.error` of captures beyond the maximum number of pending deliveries. */
export const TOO_MANY_PENDING = 'Not forwarded: too many deliveries are waiting';
/** The same for a capture whose body takes too long to match. */
export const TOO_SLOW = 'Not forwarded: the conditions take too long for this request';

/** What decides when a delivery is sent again. */
export interface FailedAttempt {
  /** From 1 up. */
  readonly attempt: number;
  /** When it ended, in milliseconds since 1970. */
  readonly at: number;
  readonly responseHeaders: RawHeaders;
  /** From 0 up to 1. */
  readonly random: number;
}

/** The time of the next attempt in milliseconds since 1970, or `null` when the delivery has finally failed. */
export function nextAttemptAt({ attempt, at, responseHeaders, random }: FailedAttempt): number | null {
  const wait = WAITS_MS[attempt - 1];
  if (wait === undefined) return null;
  const jittered = wait * (1 + MAX_JITTER * random);
  return Math.round(at + Math.max(jittered, retryAfterMs(responseHeaders, at)));
}

/** The wait that a response asks for (RFC 9110, section 10.2.3): seconds, or a date. 0 without one. */
export function retryAfterMs(headers: RawHeaders, now: number): number {
  const text = firstHeader(headers, 'retry-after')?.trim() ?? '';
  const wait = /^\d+$/.test(text) ? Number(text) * SECOND : dateOf(text) - now;
  return Number.isNaN(wait) ? 0 : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, wait));
}

/** The three forms of a date (RFC 9110, section 5.6.7). `Date.parse` reads much more. */
const DATE_FORMS = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** All forms are in UTC; the last one does not say so. NaN for other text. */
function dateOf(text: string): number {
  if (!DATE_FORMS.some((form) => form.test(text))) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/** Failed attempts in a row after these outcomes, oldest first, and whether the destination must be paused. */
export function countFailures(before: number, outcomes: readonly boolean[]) {
  const failures = outcomes.reduce((count, delivered) => (delivered ? 0 : count + 1), before);
  return { failures, isPaused: failures >= MAX_FAILURES_IN_A_ROW };
}

/** Why a destination was paused. */
export function pauseReason(lastFailure: string): string {
  return `${MAX_FAILURES_IN_A_ROW} attempts in a row failed. The last one: ${lastFailure}`;
}

/** The pending deliveries of a destination in short. Times are milliseconds since 1970. */
export interface Backlog {
  /** Null unless it is paused. */
  readonly pausedAt: number | null;
  /** When its earliest pending delivery is due; null without one. */
  readonly dueAt: number | null;
}

/**
 * True if no destination of an endpoint could send more now: each is paused, or has a delivery that is overdue. One slow
 * response is not enough, because its destination sends other deliveries meanwhile.
 */
export function areBehind(pending: number, destinations: readonly Backlog[], now: number): boolean {
  const isBehind = ({ pausedAt, dueAt }: Backlog): boolean => pausedAt !== null || (dueAt ?? now) <= now - BEHIND_MS;
  return pending >= BEHIND_PENDING && destinations.every(isBehind);
}

/** The mark of an installation. Only with the secret can a mark be matched to its installation. */
export function markOf(secret: string): string {
  return createHmac('sha256', secret).update('creel forwarded').digest('base64url').slice(0, 22);
}

/** Why a capture is not forwarded, or `null`. */
export function forwardRefusal(method: string, headers: RawHeaders, ownMark: string): string | null {
  const loop = loopRefusal(headers, ownMark, 'this server has forwarded the request');
  if (loop !== undefined) return loop;
  return METHODS_WITHOUT_REPLAY.has(method) ? `Not forwarded: ${method} requests can't be sent again` : null;
}

/** The headers of a forwarded request: the captured end-to-end ones, the delivery, the attempt, and the marks. */
export function forwardedHeaders(
  captured: RawHeaders,
  delivery: { readonly id: string; readonly attempt: number; readonly mark: string },
): RawHeaders {
  return [
    ...captured.filter(([name]) => !isForwardingHeader(name)),
    [FORWARDING_HEADERS.delivery, delivery.id],
    [FORWARDING_HEADERS.attempt, String(delivery.attempt)],
    viaHeader(captured, delivery.mark),
  ];
}
