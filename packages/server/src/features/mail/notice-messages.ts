import { endpointTitle } from '@creel/contract';
import { compose } from './message.ts';
import type { Message, Part } from './message.ts';

/** An endpoint in a notice. */
export interface ExpiringEndpoint {
  readonly uid: string;
  readonly name: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** In UTC, because the reader's time zone is unknown. */
export function moment(millis: number): string {
  return new Intl.DateTimeFormat('en-US', {
    dateStyle: 'long',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: 'UTC',
  }).format(millis);
}

/** The mail a day before endpoints expire. `keptMs`: how long an expired endpoint stays visible. */
export function expiryMessage(endpoints: readonly ExpiringEndpoint[], publicUrl: string, keptMs: number): Message {
  const [first] = endpoints;
  const one = endpoints.length === 1 && first !== undefined;
  const subject = one
    ? `Your endpoint ${endpointTitle(first)} expires soon`
    : `${endpoints.length} endpoints expire soon`;
  const lines = endpoints.flatMap((endpoint): Part[] => [
    `${endpointTitle(endpoint)} expires on ${moment(endpoint.expiresAt)} UTC.`,
    { label: `Open ${endpointTitle(endpoint)}`, url: `${publicUrl}/endpoints/${endpoint.uid}` },
  ]);
  return compose(subject, [
    ...lines,
    `From then on senders get the answer 410, and nothing new is captured. ${hours(keptMs)} later an expired endpoint is deleted with its requests. A favorite never expires.`,
    'You get this email because notices of expiry are on in your settings:',
    { label: 'Settings', url: `${publicUrl}/settings` },
  ]);
}

function hours(millis: number): string {
  const count = Math.round(millis / 3_600_000);
  if (count % 24 === 0 && count > 0) return count === 24 ? 'A day' : `${count / 24} days`;
  return count === 1 ? 'An hour' : `${count} hours`;
}
