import { PLANS, yearlySavingPercent } from '@creel/contract';
import { clsx } from 'clsx';
import { Badge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, FactList } from '../../ui/page.tsx';
import { formatPrice, monthlyShare, planFacts } from './plan-facts.ts';
import { actionLabel } from './subscription-labels.ts';
import { isCanceling } from './subscription-state.ts';
import type { PlanAction, PlanChoice, Subscriber } from './subscription-state.ts';

interface PlanCardProps {
  readonly user: Subscriber;
  readonly choice: PlanChoice;
  /** `undefined` while billing is off: the card has no button. */
  readonly action: PlanAction | undefined;
  /** This card's action is under way. */
  readonly pending: boolean;
  /** Any action is under way. */
  readonly busy: boolean;
  readonly onChoose: () => void;
  /** Milliseconds. */
  readonly now: number;
}

/** One plan: what it allows, what it costs, and the button that leads to it. */
export function PlanCard({ user, choice, action, pending, busy, onChoose, now }: PlanCardProps) {
  const plan = PLANS[choice.tier];
  const isCurrent = user.subscriptionTier === choice.tier;
  const label = action === undefined ? undefined : actionLabel(action, choice);
  return (
    <Card
      className={clsx('flex h-full flex-col gap-4 p-5', isCurrent && 'border-accent!')}
      aria-current={isCurrent ? 'true' : undefined}
    >
      <div className="flex min-h-5 flex-wrap items-center gap-2">
        <h3 className="text-lg font-semibold">{plan.name}</h3>
        {isCurrent && isCanceling(user, now) ? <Badge tone="warning">Canceling</Badge> : null}
        {isCurrent && label === undefined ? <Badge tone="accent">Current plan</Badge> : null}
      </div>
      <Price choice={choice} />
      <FactList facts={planFacts(plan)} />
      {label === undefined ? null : (
        <Button
          variant={action === 'checkout' || action === 'upgrade' || action === 'renew' ? 'primary' : 'secondary'}
          // Not disabled: a button that becomes the current plan's must keep the focus.
          busy={busy || action === 'current'}
          onClick={onChoose}
          className="mt-auto w-full"
        >
          {pending ? 'One moment…' : label}
        </Button>
      )}
    </Card>
  );
}

function Price({ choice }: { readonly choice: PlanChoice }) {
  const plan = PLANS[choice.tier];
  const [amount, per] = formatPrice(plan, choice.interval).split(' per ');
  const saving = choice.interval === 'yearly' ? yearlySavingPercent(plan) : 0;
  return (
    <div>
      <p>
        <span className="text-2xl font-semibold tracking-tight">{amount}</span>
        {per === undefined ? null : <span className="text-ink-2"> per {per}</span>}
      </p>
      {choice.interval === 'yearly' ? (
        <p className="min-h-5 text-ink-2">{saving === 0 ? null : `${monthlyShare(plan)} per month, ${saving}% less`}</p>
      ) : null}
    </div>
  );
}
