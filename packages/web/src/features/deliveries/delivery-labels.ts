import { isDelivered } from '@creel/contract';
import type { Destination } from '@creel/contract';
import { counted, formatCount, formatInstant, formatRoughDuration } from '../../ui/format.ts';

/** Who sent an attempt. */
export const SENT_BY = { forward: 'Forward', replay: 'Replay', cli: 'creel forward' } as const;

type SendingState = Pick<Destination, 'enabled' | 'state'>;

/** `retry in 5 s`. The destination is `undefined` until it is loaded. */
export function nextAttemptLabel(nextAttemptAt: string, destination: SendingState | undefined, now: number): string {
  if (destination !== undefined && !isSending(destination)) return 'retry waits';
  const left = Date.parse(nextAttemptAt) - now;
  return left > 0 ? `retry in ${formatRoughDuration(Math.ceil(left / 1000) * 1000)}` : 'retry is due';
}

/** When a delivery that failed is sent again. */
export function nextAttemptSentence(nextAttemptAt: string, destination: SendingState | undefined, now: number): string {
  if (destination !== undefined && !isSending(destination)) return `The next attempt waits: ${howToSend(destination)}`;
  if (Date.parse(nextAttemptAt) > now) return `The next attempt is planned for ${formatInstant(nextAttemptAt)}.`;
  return 'The next attempt is due.';
}

function isSending({ enabled, state }: SendingState): boolean {
  return enabled && state.name === 'active';
}

/** How a destination that does not send does so again. */
function howToSend({ enabled }: SendingState): string {
  return enabled
    ? 'the destination is paused. Resume it to send what waits.'
    : 'the destination is off. Turn it on to send what waits.';
}

/** A destination that is off does not send, whether it is paused or not. */
export function stateLabel({ enabled, state }: SendingState) {
  if (!enabled) return { text: 'Off', tone: 'neutral' } as const;
  return state.name === 'paused'
    ? ({ text: 'Paused', tone: 'warning' } as const)
    : ({ text: 'Active', tone: 'success' } as const);
}

/** Why a delivery waits for its first attempt. The destination is `undefined` until it is loaded. */
export function waitingReason(destination: SendingState | undefined): string {
  if (destination === undefined) return 'No attempt has ended yet.';
  if (!isSending(destination)) return `No attempt was made yet: ${howToSend(destination)}`;
  return 'No attempt has ended yet. The destination may be slow, or busy with earlier requests.';
}

/** `95% of the last 20 attempts delivered, latest 200`; `undefined` before the first attempt. */
export function outcomeLabel(statuses: Destination['recentStatuses']): string | undefined {
  const last = statuses.at(-1);
  if (last === undefined) return undefined;
  const latest = `latest ${last ?? 'without a response'}`;
  if (statuses.length === 1) return `1 attempt so far, ${latest}`;
  const share = Math.floor((100 * statuses.filter(isDelivered).length) / statuses.length);
  return `${share}% of the last ${statuses.length} attempts delivered, ${latest}`;
}

/** `1 waiting` or nothing. */
export function waitingLabel(pending: number): string | undefined {
  return pending === 0 ? undefined : `${formatCount(pending)} waiting`;
}

/** What the deletion of a destination does to its deliveries. */
export function deletionSentence(url: string, pending: number): string {
  const deliveries = counted(pending, 'waiting delivery is', 'waiting deliveries are');
  const canceled = pending === 0 ? '' : ` ${deliveries} canceled.`;
  return `New captures are no longer forwarded to ${url}.${canceled} The history of the requests is kept.`;
}
