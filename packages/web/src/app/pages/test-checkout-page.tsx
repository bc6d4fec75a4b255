import { useParams } from '@tanstack/react-router';
import { TestCheckout } from '../../features/subscription/test-gateway/test-checkout.tsx';
import { TestModeNotice } from '../../features/subscription/test-gateway/test-mode.tsx';
import { PublicLayout } from '../layout/public-layout.tsx';

/** The checkout of the built-in test gateway. */
export function TestCheckoutPage() {
  const { id } = useParams({ from: '/billing/test/checkout/$id' });
  return (
    <PublicLayout title="Test checkout" heading="Checkout" description="Choose how this payment goes.">
      <TestModeNotice />
      <TestCheckout id={id} />
    </PublicLayout>
  );
}
