import { endpointTitle } from '@creel/contract';
import { compose } from '../mail/message.ts';
import type { Message } from '../mail/message.ts';
import type { PausedDestination } from './record-queries.ts';

/** The mail about a destination that was paused after too many failures in a row. */
export function pausedMessage(
  { url, reason, endpointUid: uid, endpointName: name }: PausedDestination,
  publicUrl: string,
): Message {
  const title = endpointTitle({ uid, name });
  return compose(`Forwarding of ${title} is paused`, [
    `Creel paused forwarding from ${title} to ${url}.`,
    reason,
    'New requests are still captured, and they wait for the destination. Nothing is lost. Resume the destination when it works again:',
    { label: `Open ${title}`, url: `${publicUrl}/endpoints/${uid}` },
  ]);
}
