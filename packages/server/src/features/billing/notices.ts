import { PLANS, isProvenAddress } from '@creel/contract';
import type { Logger } from '../../log.ts';
import { MailRefused, compose, moment } from '../mail/service.ts';
import type { Mailer, Message } from '../mail/service.ts';
import type { Remote } from '../../database/remote.ts';
import type { billingQueries } from './queries.ts';
import { noticeSchema } from './rules.ts';
import type { SubscriptionNotice } from './rules.ts';

/** Mails per round. */
const AT_ONCE = 50;
const RETRY_MS = 60_000;

export interface NoticesOptions {
  readonly store: Pick<Remote<typeof billingQueries>, 'claimMail' | 'removeMail' | 'releaseMail'>;
  readonly mailer: Mailer;
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Sends the notices in the outbox, each once. A mail is claimed before it is sent, so that no two processes send it and
 * a crash never sends it twice. A temporary failure releases the claim. True when there may be more.
 */
export async function sendSubscriptionNotices(options: NoticesOptions, signal: AbortSignal): Promise<boolean> {
  const { store, mailer, publicUrl, log, now } = options;
  for (let sent = 0; sent < AT_ONCE; sent++) {
    const mail = signal.aborted ? undefined : await store.claimMail(now());
    if (mail === undefined) return false;
    const { email } = mail.user.settings;
    try {
      // The address may have changed since the notice was written.
      if (isProvenAddress(mail.user, email))
        await mailer.send(email, noticeMessage(noticeSchema.parse(JSON.parse(mail.content)), publicUrl()));
    } catch (error) {
      log.warn({ err: error }, 'a subscription notice could not be sent');
      if (!(error instanceof MailRefused && error.forGood)) {
        await store.releaseMail(mail.id, now() + RETRY_MS);
        return false;
      }
    }
    await store.removeMail(mail.id);
  }
  return true;
}

/** The mail about a change of the subscription. */
export function noticeMessage(notice: SubscriptionNotice, publicUrl: string): Message {
  const { subject, lines } = wordsOf(notice);
  return compose(subject, [
    ...lines,
    { label: 'Open your subscription', url: `${publicUrl}/subscription` },
    'You get this email because notices of subscription changes are on in your settings:',
    { label: 'Settings', url: `${publicUrl}/settings` },
  ]);
}

function wordsOf({ kind, from, to, interval, endAt }: SubscriptionNotice): { subject: string; lines: string[] } {
  const before = PLANS[from];
  const plan = PLANS[to];
  switch (kind) {
    case 'plan-changed':
      return {
        subject: `Your Creel plan is now ${plan.name}`,
        lines: [
          `You are on the ${plan.label} now${interval === null ? '' : `, paid ${interval}`}. It has room for ${plan.endpoints} endpoints, and ${plan.favorites} of them can be favorites.`,
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
