import { useParams } from '@tanstack/react-router';
import { Notice } from '../../../ui/feedback.tsx';
import { PublicLayout } from '../../../ui/page.tsx';
import { TEST_MODE } from '../subscription-labels.ts';
import { TestCheckout } from './test-checkout.tsx';

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
