import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useUser } from '../../api/queries.ts';
import { Notice } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { CheckoutReturn } from './checkout-return.tsx';
import { PortalButton, SubscriptionNotices } from './current-plan.tsx';
import { PlanChooser } from './plan-chooser.tsx';

/** The plans, the user's subscription, and the way back from a checkout. */
export function SubscriptionPage() {
  const user = useUser();
  const { checkout } = useSearch({ from: '/signed-in/subscription' });
  const navigate = useNavigate();
  const onSettled = useCallback(() => void navigate({ to: '/subscription', replace: true }), [navigate]);
  if (user === null) return null;
  return (
    <Page
      title="Subscription"
      description="What each plan allows, and what it costs."
      actions={<PortalButton user={user} />}
    >
      {checkout === 'success' ? <CheckoutReturn onSettled={onSettled} /> : null}
      {checkout === 'canceled' ? <Notice>You left the checkout. Nothing was charged.</Notice> : null}
      <SubscriptionNotices user={user} />
      <PlanChooser user={user} />
    </Page>
  );
}
