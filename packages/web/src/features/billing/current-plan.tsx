import { PLANS } from '@creel/contract';
import type { User } from '@creel/contract';
import { ExternalLink } from 'lucide-react';
import type { ComponentProps } from 'react';
import { useServiceInfo } from '../../api/queries.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { SectionCard, FactList } from '../../ui/page.tsx';
import { useNow } from '../../ui/state.ts';
import { formatPrice, planFacts, subscriptionNotice } from './subscription-labels.ts';
import { usePortal } from './subscription-queries.ts';
import { hasPortal, isCanceling, isGiven, isPastDue, shownInterval } from './subscription-state.ts';

/** The plan that the user is on. */
export function CurrentPlan({ user }: { readonly user: User }) {
  const now = useNow(60_000);
  const plan = PLANS[user.subscriptionTier];
  return (
    <SectionCard title="Current plan" footer={hasPortal(user) ? <PortalButton user={user} /> : undefined}>
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-lg font-semibold">{plan.label}</span>
          <span className="text-ink-2">{formatPrice(isGiven(user) ? PLANS.FREE : plan, shownInterval(user, now))}</span>
          {isCanceling(user, now) ? <Badge tone="warning">Canceling</Badge> : null}
          {isPastDue(user) ? <Badge tone="destructive">Payment failed</Badge> : null}
        </div>
        <FactList facts={planFacts(plan)} />
      </div>
    </SectionCard>
  );
}

/** Opens the billing portal. Hidden if the portal has nothing to manage. */
export function PortalButton({ user }: { readonly user: User }) {
  const info = useServiceInfo();
  if (!hasPortal(user) || info.isPending || info.data?.billing === 'off') return null;
  return <PortalLink label="Open billing portal" />;
}

/** A button that leads to the billing portal. There the user can also enter another card or pay at once. */
function PortalLink({ label, ...button }: { readonly label: string } & ComponentProps<typeof Button>) {
  const portal = usePortal();
  return (
    <Button {...button} busy={portal.isPending} onClick={() => portal.mutate()}>
      <ExternalLink aria-hidden /> {portal.isPending ? 'Opening…' : label}
    </Button>
  );
}

/** What the user should know before choosing a plan: no billing here, no subscription, a failed payment, a cancellation. */
export function SubscriptionNotices({ user }: { readonly user: User }) {
  const now = useNow(60_000);
  const billing = useServiceInfo().data?.billing;
  const notice = subscriptionNotice(user, now);
  return (
    <>
      {notice === undefined ? null : (
        <Notice tone={isPastDue(user) ? 'bad' : 'warn'}>
          <p>{notice}</p>
          {isPastDue(user) && billing !== 'off' ? (
            <PortalLink size="sm" className="mt-2" label="Update payment method" />
          ) : null}
        </Notice>
      )}
      {billing === 'off' ? (
        <Notice>Billing is not set up on this server. Every account stays on the plan that it has.</Notice>
      ) : isGiven(user) ? (
        <Notice>This server gave you your plan without a subscription, so there is nothing to cancel.</Notice>
      ) : null}
    </>
  );
}
