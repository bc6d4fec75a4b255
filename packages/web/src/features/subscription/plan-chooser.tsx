import { tierSchema } from '@creel/contract';
import type { BillingInterval, User } from '@creel/contract';
import { useState } from 'react';
import { useServiceInfo } from '../../api/queries.ts';
import { toast } from '../../toasts/toast-store.ts';
import { useNow } from '../../ui/use-now.ts';
import { ChangeDialog } from './change-dialog.tsx';
import { IntervalToggle } from './interval-toggle.tsx';
import { PlanCard } from './plan-card.tsx';
import { isConfirmed } from './subscription-labels.ts';
import type { ConfirmedAction } from './subscription-labels.ts';
import { useChangePlan, useCheckout } from './subscription-queries.ts';
import { isCanceling, planAction, shownInterval } from './subscription-state.ts';
import type { PlanAction, PlanChoice } from './subscription-state.ts';

/** The plans with the buttons that lead from the user's plan to each of them. */
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
        {billing === 'test' ? <p className="text-ink-2">Test mode, no card is charged.</p> : null}
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
                held={plan.pending !== undefined || info.isPending}
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

/** Starts what a card's button stands for: at once, after a confirmation, or in the checkout. */
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
    /** What waits for a confirmation. */
    asked,
    close: () => setAsked(undefined),
    confirm: () => {
      if (asked !== undefined) change.mutate({ ...asked.choice, action: asked.action });
    },
    /** The plan whose change is under way. */
    pending: [change, checkout].find(({ isPending }) => isPending)?.variables,
  };
}
