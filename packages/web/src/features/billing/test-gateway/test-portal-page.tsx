import { ApiError, PLANS } from '@creel/contract';
import type { TestPortalAction, TestSubscription } from '@creel/contract';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { client, errorMessage } from '../../../api/client.ts';
import { queryClient, queryKeys } from '../../../api/query-client.ts';
import { Button } from '../../../ui/button.tsx';
import { Loading, Notice } from '../../../ui/feedback.tsx';
import { formatMoment, formatDate } from '../../../ui/format.ts';
import { PublicLayout, Card, FactList } from '../../../ui/page.tsx';
import { returnPath } from '../../../ui/urls.ts';
import { TEST_MODE, formatMoney, INTERVAL_LABELS } from '../subscription-labels.ts';

/** The billing portal of the built-in test gateway. */
export function TestPortalPage() {
  const { return: back } = useSearch({ from: '/billing/test/portal' });
  return (
    <PublicLayout
      title="Test billing portal"
      heading="Billing portal"
      description="Your subscription, with a clock you can move."
    >
      <Notice tone="warn">{TEST_MODE}</Notice>
      <TestPortal />
      <Button asChild variant="ghost">
        {/* A new page, as when the browser comes back from another site: it reads the account again. */}
        <a href={returnPath(back, location.origin)}>Return to Creel</a>
      </Button>
    </PublicLayout>
  );
}

/** The portal of the test gateway: the subscription, and what can happen to it. */
function TestPortal() {
  const { data, error, refetch } = useQuery(testSubscriptionQuery);
  const hasNone = error instanceof ApiError && error.code === 'NO_SUBSCRIPTION';
  if (hasNone) return <Notice>{errorMessage(error, 'There is no subscription yet.')}</Notice>;
  if (data !== undefined) return <LoadedPortal subscription={data} />;
  if (error === null) return <Loading label="Loading the subscription" bars={['h-48']} />;
  return (
    <Notice tone="bad" onRetry={() => void refetch()}>
      {errorMessage(error, 'The subscription could not be loaded.')}
    </Notice>
  );
}

function LoadedPortal({ subscription }: { readonly subscription: TestSubscription }) {
  const act = useActOnSubscription();
  const next = nextDate(subscription);
  return (
    <>
      <Card className="p-5">
        <FactList
          facts={[
            { name: 'Plan', value: PLANS[subscription.tier].label },
            { name: 'Billing', value: `${INTERVAL_LABELS[subscription.interval]}, ${formatMoney(subscription.price)}` },
            { name: 'Status', value: <span role="status">{statusLabel(subscription)}</span> },
            ...(next === undefined ? [] : [next]),
            { name: 'Test clock', value: formatMoment(subscription.now) },
          ]}
        />
      </Card>
      {act.isError ? (
        <Notice tone="bad">{errorMessage(act.error, 'The subscription did not change. Try again.')}</Notice>
      ) : null}
      <ul className="divide-y divide-line rounded-lg border border-line bg-panel empty:hidden">
        {portalActions(subscription).map(({ action, label, about, destructive = false }) => (
          <li key={action} className="flex items-center justify-between gap-4 px-5 py-3">
            <p className="min-w-0 text-ink-2">{about}</p>
            <Button
              variant={destructive ? 'danger-ghost' : 'secondary'}
              busy={act.isPending}
              onClick={() => act.mutate(action)}
            >
              {label}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

const testSubscriptionQuery = queryOptions({
  queryKey: queryKeys.testSubscription,
  queryFn: ({ signal }) => client.call('getTestSubscription', {}, signal),
  staleTime: 0,
});

/** Changes the subscription at the gateway, which reports it to Creel as an event. */
const useActOnSubscription = () =>
  useMutation({
    mutationFn: (action: TestPortalAction) => client.call('actOnTestSubscription', { body: { action } }),
    onSuccess: (subscription) => queryClient.setQueryData(queryKeys.testSubscription, subscription),
    onError: () => queryClient.invalidateQueries({ queryKey: queryKeys.testSubscription }),
  });

interface PortalAction {
  readonly action: TestPortalAction;
  readonly label: string;
  /** What the action does, under its label. */
  readonly about: string;
  readonly destructive?: boolean;
}

/** True if nothing can change the subscription. */
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
export function nextDate(subscription: TestSubscription) {
  if (hasEnded(subscription)) return undefined;
  const { cancelAt, now } = subscription;
  return cancelAt === null
    ? { name: 'Renews on', value: periodEnd(subscription) }
    : { name: 'Ends on', value: formatDate(cancelAt, Date.parse(now)) };
}
