import { PLANS } from '@creel/contract';
import type { User } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { userQuery } from '../../api/queries.ts';
import { Notice } from '../../ui/feedback.tsx';
import { toast } from '../../ui/toast-store.ts';
import { storeChangedUser } from './subscription-queries.ts';

/** Milliseconds between two reads of the user, and until the page gives up. */
const POLL_MS = 1000;
const WORKER_TIMEOUT_MS = 20_000;

const isSubscribed = (user: User | null | undefined): user is User => typeof user?.stripeSubscriptionId === 'string';

/**
 * After a paid checkout: waits until the account has its subscription. The payment provider may report it after the
 * browser has returned.
 */
export function CheckoutReturn({ onSettled }: { readonly onSettled: () => void }) {
  const [hasGivenUp, setGivenUp] = useState(false);
  const { data: user } = useQuery({
    ...userQuery,
    refetchInterval: ({ state }) => (isSubscribed(state.data) || hasGivenUp ? false : POLL_MS),
  });
  useEffect(() => {
    const timer = setTimeout(() => setGivenUp(true), WORKER_TIMEOUT_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (!isSubscribed(user)) return;
    storeChangedUser(user);
    toast({ title: 'Payment received', description: `You are on the ${PLANS[user.subscriptionTier].name} plan now.` });
    onSettled();
  }, [user, onSettled]);
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
