import { PLANS } from '@creel/contract';
import type { TestCheckout as Checkout, TestCheckoutAction } from '@creel/contract';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { client, errorMessage, isNotFound } from '../../../api/client.ts';
import { queryClient, queryKeys } from '../../../api/query-client.ts';
import { Button } from '../../../ui/button.tsx';
import { Loading, Notice } from '../../../ui/feedback.tsx';
import { PublicLayout, Card, FactList } from '../../../ui/page.tsx';
import { TEST_MODE, formatMoney, INTERVAL_LABELS } from '../subscription-labels.ts';

/** The checkout of the built-in test gateway. */
export function TestCheckoutPage() {
  const { id } = useParams({ from: '/billing/test/checkout/$id' });
  return (
    <PublicLayout title="Test checkout" heading="Checkout" description="Choose how this payment goes.">
      <Notice tone="warn">{TEST_MODE}</Notice>
      <TestCheckout id={id} />
    </PublicLayout>
  );
}

const CLOSED = {
  complete: 'This checkout is paid.',
  expired: 'This checkout has expired. Nothing was charged.',
} as const;

/** A checkout of the test gateway: what is bought, and how the card behaves. */
function TestCheckout({ id }: { readonly id: string }) {
  const checkout = useQuery(testCheckoutQuery(id));
  if (checkout.data !== undefined) return <LoadedCheckout checkout={checkout.data} />;
  if (checkout.isError) {
    return (
      <>
        <Notice tone="bad" {...(isNotFound(checkout.error) ? {} : { onRetry: () => void checkout.refetch() })}>
          {errorMessage(checkout.error, 'The checkout could not be loaded.')}
        </Notice>
        <Button asChild variant="ghost">
          <a href="/subscription">Back to the plans</a>
        </Button>
      </>
    );
  }
  return <Loading label="Loading the checkout" bars={['h-40']} />;
}

function LoadedCheckout({ checkout }: { readonly checkout: Checkout }) {
  const decide = useDecideCheckout(checkout.id);
  const price = formatMoney(checkout.price);
  // After a success the browser is on its way back.
  const busy = decide.isPending || decide.isSuccess;
  return (
    <>
      <Card className="p-5">
        <FactList
          facts={[
            { name: 'Plan', value: PLANS[checkout.tier].label },
            { name: 'Billing', value: INTERVAL_LABELS[checkout.interval] },
            { name: 'Email', value: checkout.email },
            { name: 'Due today', value: <span className="text-lg font-semibold">{price}</span> },
          ]}
        />
      </Card>
      {checkout.status === 'open' ? (
        <div className="flex flex-col gap-2">
          {decide.isError ? (
            <Notice tone="bad">{errorMessage(decide.error, 'The payment failed. Try again.')}</Notice>
          ) : null}
          <Button variant="primary" busy={busy} onClick={() => decide.mutate('pay')}>
            {busy && decide.variables === 'pay' ? 'Paying…' : `Pay ${price}`}
          </Button>
          <Button busy={busy} onClick={() => decide.mutate('decline')}>
            Decline the card
          </Button>
          <Button busy={busy} onClick={() => decide.mutate('expire')}>
            Let the checkout expire
          </Button>
        </div>
      ) : (
        <Notice tone={checkout.status === 'complete' ? 'good' : 'info'}>{CLOSED[checkout.status]}</Notice>
      )}
      <Button asChild variant="ghost">
        <a href={checkout.returnUrl}>{checkout.status === 'open' ? 'Cancel and go back' : 'Go back'}</a>
      </Button>
    </>
  );
}

/** Read on every visit: another tab may have paid or canceled. */
const testCheckoutQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.testCheckout(id),
    queryFn: ({ signal }) => client.call('getTestCheckout', { params: { id } }, signal),
    staleTime: 0,
  });

/** Pays, declines or expires a checkout. A paid or expired one leads back to Creel with a new page, as the real gateway does. */
const useDecideCheckout = (id: string) =>
  useMutation({
    mutationFn: (action: TestCheckoutAction) => client.call('decideTestCheckout', { params: { id }, body: { action } }),
    onSuccess: ({ returnUrl }) => location.assign(returnUrl),
    onError: () => queryClient.invalidateQueries({ queryKey: queryKeys.testCheckout(id) }),
  });
