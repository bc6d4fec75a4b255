import { endpointTitle, isProvenAddress } from '@creel/contract';
import { z } from 'zod';
import { compose, moment } from '../mail/service.ts';
import type { ComposeNotice } from '../mail/service.ts';

/** A destination that was paused after too many failures in a row. */
const pausedNoticeSchema = z.object({
  kind: z.literal('destination-paused'),
  url: z.string(),
  reason: z.string(),
  /** Milliseconds since 1970. */
  pausedAt: z.int(),
  endpointUid: z.string(),
  endpointName: z.string().nullable(),
});
export type PausedNotice = z.infer<typeof pausedNoticeSchema>;

/** The mail about a paused destination, to the owner's confirmed address. */
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
