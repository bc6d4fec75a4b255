import { PLANS, yearlySavingPercent } from '@creel/contract';
import type { Tier, User } from '@creel/contract';
import { clsx } from 'clsx';
import { planFacts, priceWords } from '../../model/plan-facts.ts';
import { isCanceling } from '../../model/subscription-words.ts';
import { formatDate } from '../../model/times.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { PlanSummary } from '../../ui/plan-summary.tsx';
import { useNow } from '../../ui/use-now.ts';

const TIERS: readonly Tier[] = ['FREE', 'BASIC', 'PREMIUM'];

/** What each plan allows and costs, and which one the person is on. */
export function PlanTable({ user }: { readonly user: User }) {
  return (
    <ul className="grid gap-4 lg:grid-cols-3">
      {TIERS.map((tier) => (
        <li key={tier}>
          <PlanColumn tier={tier} user={user} />
        </li>
      ))}
    </ul>
  );
}

function PlanColumn({ tier, user }: { readonly tier: Tier; readonly user: User }) {
  const now = useNow(60_000);
  const plan = PLANS[tier];
  const isCurrent = user.subscriptionTier === tier;
  const saving = yearlySavingPercent(plan);
  return (
    <Card className={clsx('h-full p-5', isCurrent && 'border-accent')} aria-current={isCurrent ? 'true' : undefined}>
      <PlanSummary
        heading={
          <>
            <h2 className="text-lg font-semibold">{plan.name}</h2>
            {isCurrent ? <Badge tone="accent">Current plan</Badge> : null}
            {isCurrent && isCanceling(user, now) ? <Badge tone="warning">Canceling</Badge> : null}
          </>
        }
        note={
          <>
            <span className="text-lg font-semibold text-ink">{priceWords(plan, 'monthly')}</span>
            {saving === 0 ? null : ` or ${priceWords(plan, 'yearly')}, ${saving}% less`}
            {isCurrent && isCanceling(user, now) && user.subscriptionEndDate !== null
              ? `. Yours until ${formatDate(user.subscriptionEndDate, now)}`
              : null}
          </>
        }
        facts={planFacts(plan)}
      />
    </Card>
  );
}
