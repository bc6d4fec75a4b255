import { billingIntervalSchema, PLANS, tierSchema, yearlySavingPercent } from '@creel/contract';
import type { BillingInterval, User } from '@creel/contract';
import { clsx } from 'clsx';
import { useState } from 'react';
import { useServiceInfo } from '../../api/queries.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { keepsFocus } from '../../ui/focus.ts';
import { Card, FactList } from '../../ui/page.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { useNow } from '../../ui/state.ts';
import { toast } from '../../ui/toast-store.ts';
import { ChangeDialog } from './change-dialog.tsx';
import {
  INTERVAL_LABELS,
  isConfirmed,
  TEST_MODE,
  formatPrice,
  monthlyShare,
  planFacts,
  actionLabel,
} from './subscription-labels.ts';
import type { ConfirmedAction } from './subscription-labels.ts';
import { useChangePlan, useCheckout } from './subscription-queries.ts';
import { isCanceling, planAction, shownInterval } from './subscription-state.ts';
import type { PlanAction, PlanChoice, Subscriber } from './subscription-state.ts';

/** The largest saving of a yearly price over all plans, in percent. */
const SAVING = Math.max(...Object.values(PLANS).map(yearlySavingPercent));

/** The plans, with buttons to change to each of them. */
export function PlanChooser({ user }: { readonly user: User }) {
  const now = useNow(60_000);
  const info = useServiceInfo();
  const billing = info.data?.billing;
  const [chosen, setChosen] = useState<BillingInterval>();
  const plan = usePlanActions();
  const interval = chosen ?? shownInterval(user, now);
  return (
    <section className="@container flex flex-col gap-4">
      <h2 className="sr-only">Plans</h2>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <RadioGroup
          label="Billing interval"
          value={interval}
          options={INTERVALS}
          onChange={setChosen}
          className="inline-flex self-start rounded-md border border-line-strong bg-panel p-0.5"
          optionClassName="h-7 gap-1.5 rounded-sm px-3 not-has-checked:text-ink-2 not-has-checked:hover:text-ink"
        />
        {billing === 'test' ? <p className="text-ink-2">{TEST_MODE}</p> : null}
      </div>
      <ul className="grid gap-4 @2xl:grid-cols-3">
        {tierSchema.options.map((tier) => {
          const choice = { tier, interval };
          const action = planAction(user, choice, now);
          return (
            <li key={tier}>
              <PlanCard
                user={user}
                choice={choice}
                action={billing === 'off' ? undefined : action}
                pending={plan.pending?.tier === tier}
                busy={plan.pending !== undefined || info.isPending}
                onChoose={() => plan.start(action, choice)}
                now={now}
              />
            </li>
          );
        })}
      </ul>
      {plan.unconfirmed === undefined ? null : (
        <ChangeDialog
          {...plan.unconfirmed}
          isRenewed={isCanceling(user, now)}
          now={now}
          onClose={plan.close}
          onConfirm={plan.confirm}
        />
      )}
    </section>
  );
}

/** Starts the action of a button: directly, after a confirmation, or in the checkout. */
function usePlanActions() {
  const [unconfirmed, setUnconfirmed] = useState<{ readonly action: ConfirmedAction; readonly choice: PlanChoice }>();
  const change = useChangePlan();
  const checkout = useCheckout();
  const start = (action: PlanAction, choice: PlanChoice): void => {
    if (action === 'already-free') toast({ title: 'Already on Free plan' });
    else if (action === 'checkout') checkout.mutate(choice);
    else if (action === 'renew') change.mutate({ ...choice, action });
    else if (isConfirmed(action)) setUnconfirmed({ action, choice });
  };
  return {
    start,
    /** The change that awaits confirmation. */
    unconfirmed,
    close: () => setUnconfirmed(undefined),
    confirm: () => {
      if (unconfirmed !== undefined) change.mutate({ ...unconfirmed.choice, action: unconfirmed.action });
    },
    /** The plan that is being changed to. */
    pending: [change, checkout].find(({ isPending }) => isPending)?.variables,
  };
}

const INTERVALS = billingIntervalSchema.options.map((value) => ({
  value,
  label: (
    <>
      {INTERVAL_LABELS[value]}
      {value === 'yearly' ? <span className="font-normal">Save {SAVING}%</span> : null}
    </>
  ),
}));

interface PlanCardProps {
  readonly user: Subscriber;
  readonly choice: PlanChoice;
  /** `undefined` while billing is off: the card has no button. */
  readonly action: PlanAction | undefined;
  /** True while this card's action runs. */
  readonly pending: boolean;
  /** True while any action runs. */
  readonly busy: boolean;
  readonly onChoose: () => void;
  /** Milliseconds. */
  readonly now: number;
}

/** One plan: what it allows, what it costs, and the button that leads to it. */
function PlanCard({ user, choice, action, pending, busy, onChoose, now }: PlanCardProps) {
  const plan = PLANS[choice.tier];
  const isCurrent = user.subscriptionTier === choice.tier;
  const label = action === undefined ? undefined : actionLabel(action, choice);
  return (
    <Card
      // The button of the Free plan disappears when it has canceled the subscription.
      {...keepsFocus()}
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
