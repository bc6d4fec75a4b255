import { PLANS } from '@creel/contract';
import type { User } from '@creel/contract';
import { Badge } from '../../ui/badge.tsx';
import { SectionCard } from '../../ui/card.tsx';
import { useNow } from '../../ui/use-now.ts';
import { formatPrice, planFacts } from './plan-facts.ts';
import { PlanFactList } from './plan-fact-list.tsx';
import { PortalButton } from './portal-button.tsx';
import { hasPortal, isCanceling, isPastDue, shownInterval } from './subscription-state.ts';

/** The plan that the user is on. */
export function CurrentPlan({ user }: { readonly user: User }) {
  const now = useNow(60_000);
  const plan = PLANS[user.subscriptionTier];
  return (
    <SectionCard title="Current plan" {...(hasPortal(user) ? { footer: <PortalButton user={user} /> } : {})}>
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-lg font-semibold">{plan.label}</span>
          <span className="text-ink-2">{formatPrice(plan, shownInterval(user, now))}</span>
          {isCanceling(user, now) ? <Badge tone="warning">Canceling</Badge> : null}
          {isPastDue(user) ? <Badge tone="destructive">Payment failed</Badge> : null}
        </div>
        <PlanFactList facts={planFacts(plan)} />
      </div>
    </SectionCard>
  );
}
