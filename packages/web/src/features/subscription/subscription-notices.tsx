import type { User } from '@creel/contract';
import { useServiceInfo } from '../../api/queries.ts';
import { Notice } from '../../ui/notice.tsx';
import { useNow } from '../../ui/use-now.ts';
import { subscriptionNotice } from './subscription-labels.ts';
import { isPastDue } from './subscription-state.ts';

/** What the user should know before choosing a plan: no billing here, a failed payment, a cancellation. */
export function SubscriptionNotices({ user }: { readonly user: User }) {
  const now = useNow(60_000);
  const billing = useServiceInfo().data?.billing;
  const notice = subscriptionNotice(user, now);
  return (
    <>
      {notice === undefined ? null : <Notice tone={isPastDue(user) ? 'bad' : 'warn'}>{notice}</Notice>}
      {billing === 'off' ? (
        <Notice>Billing is not set up on this server. Every account stays on the plan that it has.</Notice>
      ) : null}
    </>
  );
}
