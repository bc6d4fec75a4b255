import { PLANS } from '@creel/contract';
import type { User } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useUser, userQuery } from '../../api/queries.ts';
import { Notice } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast-store.ts';
import { PortalButton, SubscriptionNotices } from './current-plan.tsx';
import { PlanChooser } from './plan-chooser.tsx';
import { storeChangedUser } from './subscription-queries.ts';

/** The plans, the user's subscription, and the way back from a checkout. */
export function SubscriptionPage() {
  const user = useUser();
  const { checkout } = useSearch({ from: '/signed-in/subscription' });
  if (user === null) return null;
  return (
    <Page
      title="Subscription"
      description="What each plan allows, and what it costs."
      actions={<PortalButton user={user} />}
    >
      {checkout === 'success' ? <CheckoutReturn /> : null}
      {checkout === 'canceled' ? <Notice>You left the checkout. Nothing was charged.</Notice> : null}
      <SubscriptionNotices user={user} />
      <PlanChooser user={user} />
    </Page>
  );
}

/** Milliseconds between two reads of the user, and until the page gives up. */
const POLL_MS = 1000;
const GIVE_UP_AFTER_MS = 20_000;

const isSubscribed = (user: User | null | undefined): user is User => typeof user?.stripeSubscriptionId === 'string';

/**
 * After a paid checkout: waits until the account has its subscription. The payment provider may report it after the
 * browser has returned.
 */
function CheckoutReturn() {
  const navigate = useNavigate();
  const [hasGivenUp, setGivenUp] = useState(false);
  const { data: user } = useQuery({
    ...userQuery,
    refetchInterval: ({ state }) => (isSubscribed(state.data) || hasGivenUp ? false : POLL_MS),
  });
  useEffect(() => {
    const timer = setTimeout(() => setGivenUp(true), GIVE_UP_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (!isSubscribed(user)) return;
    storeChangedUser(user);
    toast({ title: 'Payment received', description: `You are on the ${PLANS[user.subscriptionTier].name} plan now.` });
    void navigate({ to: '/subscription', replace: true });
  }, [user, navigate]);
  if (isSubscribed(user)) return null;
  return hasGivenUp ? (
    <Notice>
      Your payment is being confirmed. This takes longer than usual; your plan changes automatically. Reload this page
      in a few minutes.
    </Notice>
  ) : (
    <Notice>Confirming your payment…</Notice>
  );
}
