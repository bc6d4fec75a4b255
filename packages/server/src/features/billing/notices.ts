import { PLANS, isProvenAddress } from '@creel/contract';
import { compose, moment } from '../mail/service.ts';
import type { ComposeNotice, Message } from '../mail/service.ts';
import { noticeSchema } from './rules.ts';
import type { SubscriptionNotice } from './rules.ts';

/** The email about a change of a subscription, to the address in the user's settings. */
export const composeSubscriptionNotice: ComposeNotice = (content, { settings: { email }, ...user }, publicUrl) => {
  const notice = noticeSchema.safeParse(content);
  if (!notice.success) return undefined;
  return isProvenAddress(user, email) ? { to: email, message: noticeMessage(notice.data, publicUrl) } : 'unwanted';
};

/** The text of the email about a change of a subscription. */
export function noticeMessage(notice: SubscriptionNotice, publicUrl: string): Message {
  const { subject, lines } = textsOf(notice);
  return compose(subject, [
    ...lines,
    { label: 'Open your subscription', url: `${publicUrl}/subscription` },
    'You get this email because notices of subscription changes are on in your settings:',
    { label: 'Settings', url: `${publicUrl}/settings` },
  ]);
}

function textsOf({ kind, from, to, interval, endAt }: SubscriptionNotice): { subject: string; lines: string[] } {
  const before = PLANS[from];
  const plan = PLANS[to];
  switch (kind) {
    case 'plan-changed':
      return {
        subject: `Your Creel plan is now ${plan.name}`,
        lines: [
          `You are on the ${plan.label} now${interval === null ? '' : `, paid ${interval}`}. It has room for ${plan.endpoints} endpoints, and ${plan.favorites} of them can be ${plan.favorites === 1 ? 'a favorite' : 'favorites'}.`,
        ],
      };
    case 'cancellation-taken':
      return {
        subject: `Your ${plan.label} is canceled`,
        lines: [
          `You keep the ${plan.label}${endAt === null ? '' : ` until ${moment(endAt)} UTC`}. You can renew it until then.`,
          `After that you are on the Free Plan: your newest endpoint is kept for 24 hours, all others are deleted with their requests.`,
        ],
      };
    case 'period-ended':
      return {
        subject: `Your ${before.label} has ended`,
        lines: [
          'You are on the Free Plan now. Your newest endpoint expires in 24 hours; all others were deleted with their requests.',
        ],
      };
    case 'payment-failed':
      return {
        subject: `The payment for your ${plan.label} failed`,
        lines: [
          `Your card was declined. You keep the ${plan.label} while the payment is tried again. Please check your card in the billing portal.`,
        ],
      };
  }
}
