import { PLANS } from '@creel/contract';
import type { User } from '@creel/contract';
import { Link } from '@tanstack/react-router';
import { planFacts, priceWords } from '../../model/plan-facts.ts';
import { isCanceling, shownInterval } from '../../model/subscription-words.ts';
import { formatDate } from '../../model/times.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { SectionCard } from '../../ui/card.tsx';
import { PlanSummary } from '../../ui/plan-summary.tsx';
import { useNow } from '../../ui/use-now.ts';

/** The plan that the person is on (spec 2). */
export function PlanCard({ user }: { readonly user: User }) {
  const now = useNow(60_000);
  const plan = PLANS[user.subscriptionTier];
  const canceling = isCanceling(user, now);
  return (
    <SectionCard
      title="Current plan"
      footer={
        <Button asChild>
          <Link to="/subscription">Manage Subscription</Link>
        </Button>
      }
    >
      <PlanSummary
        heading={
          <>
            <span className="text-lg font-semibold">{plan.label}</span>
            <span className="text-ink-2">{priceWords(plan, shownInterval(user, now))}</span>
            {canceling ? <Badge tone="warning">Canceling</Badge> : null}
          </>
        }
        note={
          canceling && user.subscriptionEndDate !== null
            ? `You keep it until ${formatDate(user.subscriptionEndDate, now)}.`
            : undefined
        }
        facts={planFacts(plan)}
      />
    </SectionCard>
  );
}
