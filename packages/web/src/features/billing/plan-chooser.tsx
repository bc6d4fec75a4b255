import { billingIntervalSchema, PLANS, tierSchema, yearlySavingPercent } from '@creel/contract';
import type { BillingInterval, User } from '@creel/contract';
import { RadioGroup } from 'radix-ui';
import { useState } from 'react';
import { useServiceInfo } from '../../api/queries.ts';
import { useNow } from '../../ui/state.ts';
import { toast } from '../../ui/toast-store.ts';
import { ChangeDialog } from './change-dialog.tsx';
import { PlanCard } from './plan-card.tsx';
import { INTERVAL_LABELS, isConfirmed, TEST_MODE } from './subscription-labels.ts';
import type { ConfirmedAction } from './subscription-labels.ts';
import { useChangePlan, useCheckout } from './subscription-queries.ts';
import { isCanceling, planAction, shownInterval } from './subscription-state.ts';
import type { PlanAction, PlanChoice } from './subscription-state.ts';

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
        <IntervalToggle value={interval} onChange={setChosen} />
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
      {plan.asked === undefined ? null : (
        <ChangeDialog
          {...plan.asked}
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
  const [asked, setAsked] = useState<{ readonly action: ConfirmedAction; readonly choice: PlanChoice }>();
  const change = useChangePlan();
  const checkout = useCheckout();
  const start = (action: PlanAction, choice: PlanChoice): void => {
    if (action === 'already-free') toast({ title: 'Already on Free plan' });
    else if (action === 'checkout') checkout.mutate(choice);
    else if (action === 'renew') change.mutate({ ...choice, action });
    else if (isConfirmed(action)) setAsked({ action, choice });
  };
  return {
    start,
    /** The change that awaits confirmation. */
    asked,
    close: () => setAsked(undefined),
    confirm: () => {
      if (asked !== undefined) change.mutate({ ...asked.choice, action: asked.action });
    },
    /** The plan that is being changed to. */
    pending: [change, checkout].find(({ isPending }) => isPending)?.variables,
  };
}

interface IntervalToggleProps {
  readonly value: BillingInterval;
  readonly onChange: (interval: BillingInterval) => void;
}

/** Monthly or yearly prices. */
function IntervalToggle({ value, onChange }: IntervalToggleProps) {
  return (
    <RadioGroup.Root
      aria-label="Billing interval"
      value={value}
      onValueChange={(chosen) => onChange(chosen === 'yearly' ? 'yearly' : 'monthly')}
      className="inline-flex self-start rounded-md border border-line-strong bg-panel p-0.5"
    >
      {billingIntervalSchema.options.map((interval) => (
        <RadioGroup.Item
          key={interval}
          value={interval}
          className="flex h-7 items-center gap-1.5 rounded-sm px-3 font-medium text-ink-2 transition-colors duration-100 hover:text-ink data-[state=checked]:bg-accent-soft data-[state=checked]:text-accent"
        >
          {INTERVAL_LABELS[interval]}
          {interval === 'yearly' ? <span className="font-normal">Save {SAVING}%</span> : null}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
