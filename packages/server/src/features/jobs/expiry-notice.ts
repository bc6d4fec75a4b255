import { PLANS, endpointTitle, isProvenAddress } from '@creel/contract';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import type { EndpointRecord, UserRecord } from '../../database/records.ts';
import { compose, moment } from '../mail/service.ts';
import type { ComposeNotice, Message, Part } from '../mail/service.ts';

/** Endpoints that expire within a day, of one owner. */
const expiryNoticeSchema = z.object({
  kind: z.literal('endpoints-expire'),
  /** `expiresAt` in milliseconds since 1970. */
  endpoints: z.array(z.object({ uid: z.string(), expiresAt: z.int() })),
});
export type ExpiryNotice = z.infer<typeof expiryNoticeSchema>;

/** Notices go only to verified addresses of users who want them. */
export function wantsExpiryNotice(user: UserRecord): boolean {
  const { emailNotifyExpiry, email } = user.settings;
  return emailNotifyExpiry && PLANS[user.subscriptionTier].emailNotifications && isProvenAddress(user, email);
}

interface ComposerOptions {
  readonly store: { readonly findEndpoint: (uid: string) => Promise<EndpointRecord | undefined> };
  readonly config: Pick<Config, 'expiredRetentionMs'>;
  readonly now: () => number;
}

/** Makes the mail about endpoints that expire. Those that were renewed or deleted meanwhile are left out. */
export function composeExpiryNotice({ store, config, now }: ComposerOptions): ComposeNotice {
  return async (content, user, publicUrl) => {
    const notice = expiryNoticeSchema.safeParse(content);
    if (!notice.success) return undefined;
    if (!wantsExpiryNotice(user)) return 'unwanted';
    const endpoints: ExpiringEndpoint[] = [];
    for (const { uid, expiresAt } of notice.data.endpoints) {
      const endpoint = await store.findEndpoint(uid);
      if (endpoint?.expiresAt === expiresAt && expiresAt > now()) endpoints.push({ ...endpoint, expiresAt });
    }
    if (endpoints.length === 0) return 'unwanted';
    return { to: user.settings.email, message: expiryMessage(endpoints, publicUrl, config.expiredRetentionMs) };
  };
}

type ExpiringEndpoint = Pick<EndpointRecord, 'uid' | 'name'> & { readonly expiresAt: number };

/** The mail a day before endpoints expire. `keptMs`: how long an expired endpoint stays visible. */
function expiryMessage(endpoints: readonly ExpiringEndpoint[], publicUrl: string, keptMs: number): Message {
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
