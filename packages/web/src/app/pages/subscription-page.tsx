import { useServiceInfo, useUser } from '../../api/queries.ts';
import { PlanTable } from '../../features/subscription/plan-table.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../layout/page.tsx';

/** The plans, and which one the person is on. */
export function SubscriptionPage() {
  const user = useUser();
  const info = useServiceInfo();
  return (
    <Page title="Subscription" description="What each plan allows, and what it costs.">
      {info.data?.billing === 'off' ? (
        <Notice>Billing is not set up on this server. Every account stays on the plan that it has.</Notice>
      ) : null}
      {user === null ? null : <PlanTable user={user} />}
    </Page>
  );
}
