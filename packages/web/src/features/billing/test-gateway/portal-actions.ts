import type { TestPortalAction, TestSubscription } from '@creel/contract';
import { formatDate } from '../../../ui/format.ts';

interface PortalAction {
  readonly action: TestPortalAction;
  readonly label: string;
  /** What the action does, under its label. */
  readonly about: string;
  readonly destructive?: boolean;
}

/** True if the subscription can't change any more. */
const hasEnded = ({ status }: TestSubscription): boolean => status === 'canceled' || status === 'incomplete_expired';

const isUnpaid = ({ status }: TestSubscription): boolean => status === 'past_due' || status === 'unpaid';

/** What can be done with the subscription as it is. */
export function portalActions(subscription: TestSubscription): readonly PortalAction[] {
  if (hasEnded(subscription)) return [];
  const period = periodEnd(subscription);
  const isCanceling = subscription.cancelAt !== null;
  const endNow = {
    action: 'end-now',
    label: 'End now',
    about: 'Ends the plan at once.',
    destructive: true,
  } as const;
  if (isUnpaid(subscription)) {
    return [{ action: 'recover-payment', label: 'Pay', about: 'The next try with the card succeeds.' }, endNow];
  }
  return [
    isCanceling
      ? { action: 'renew', label: 'Renew', about: 'Reverts the cancellation.' }
      : { action: 'cancel', label: 'Cancel', about: `The plan stays until ${period}.` },
    {
      action: 'advance',
      label: 'Advance time',
      about: isCanceling ? `On ${period} the plan ends.` : `On ${period} the plan renews and is paid.`,
    },
    ...(isCanceling ? [] : [failPayment(period)]),
    endNow,
  ];
}

const failPayment = (period: string): PortalAction => ({
  action: 'fail-payment',
  label: 'Fail next payment',
  about: `On ${period} the card is declined.`,
});

const periodEnd = ({ currentPeriodEnd, now }: TestSubscription): string =>
  formatDate(currentPeriodEnd, Date.parse(now));

const STATUS_LABELS: Readonly<Record<string, string>> = {
  active: 'Active',
  past_due: 'Payment failed, being tried again',
  unpaid: 'Unpaid',
  canceled: 'Ended',
};

/** The status in words. */
export function statusLabel({ status, cancelAt }: TestSubscription): string {
  if (status === 'active' && cancelAt !== null) return 'Active, canceled at the end of the period';
  return STATUS_LABELS[status] ?? status;
}

/** The next date of the subscription with its name; `undefined` after its end. */
export function nextDate(
  subscription: TestSubscription,
): { readonly name: string; readonly value: string } | undefined {
  if (hasEnded(subscription)) return undefined;
  const { cancelAt, now } = subscription;
  return cancelAt === null
    ? { name: 'Renews on', value: periodEnd(subscription) }
    : { name: 'Ends on', value: formatDate(cancelAt, Date.parse(now)) };
}
