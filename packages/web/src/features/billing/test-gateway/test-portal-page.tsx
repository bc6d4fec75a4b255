import { ApiError, PLANS } from '@creel/contract';
import type { TestSubscription } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { errorMessage } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Loading, Notice } from '../../../ui/feedback.tsx';
import { formatMoment } from '../../../ui/format.ts';
import { PublicLayout, Card, FactList } from '../../../ui/page.tsx';
import { returnPath } from '../../../ui/urls.ts';
import { TEST_MODE, formatMoney, INTERVAL_LABELS } from '../subscription-labels.ts';
import { nextDate, portalActions, statusLabel } from './portal-actions.ts';
import { testSubscriptionQuery, useActOnSubscription } from './test-gateway-queries.ts';

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
  const subscription = useQuery(testSubscriptionQuery);
  if (subscription.data !== undefined && !subscription.isError)
    return <LoadedPortal subscription={subscription.data} />;
  if (subscription.isError) {
    const hasNone = subscription.error instanceof ApiError && subscription.error.code === 'NO_SUBSCRIPTION';
    return (
      <Notice tone={hasNone ? 'info' : 'bad'}>
        {errorMessage(subscription.error, 'The subscription could not be loaded. Reload the page.')}
      </Notice>
    );
  }
  return <Loading label="Loading the subscription" bars={['h-48']} />;
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
