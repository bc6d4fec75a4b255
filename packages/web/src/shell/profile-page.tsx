import { useNavigate, useSearch } from '@tanstack/react-router';
import { useUser } from '../api/queries.ts';
import { DeleteAccountCard, EmailCard, UsernameCard } from '../features/accounts/profile-cards.tsx';
import { PasswordCard, SessionsCard } from '../features/accounts/security-cards.tsx';
import { CurrentPlan, SubscriptionNotices } from '../features/billing/current-plan.tsx';
import { PlanChooser } from '../features/billing/plan-chooser.tsx';
import { Notice } from '../ui/feedback.tsx';
import { Page } from '../ui/page.tsx';
import { TabPanel, Tabs } from '../ui/tabs.tsx';

const TABS = [
  { value: 'profile', label: 'Profile' },
  { value: 'security', label: 'Security' },
  { value: 'subscription', label: 'Subscription' },
] as const;

/** The profile page. It is in the shell because it shows the account and the plan. */
export function ProfilePage() {
  const { tab = 'profile' } = useSearch({ from: '/signed-in/profile' });
  const navigate = useNavigate();
  const user = useUser();
  if (user === null) return null;
  return (
    <Page title="Profile" description="Your account." narrow>
      <Tabs
        label="Profile"
        tabs={TABS}
        value={tab}
        onValueChange={(value) => void navigate({ to: '/profile', search: { tab: value }, replace: true })}
        className="flex flex-col gap-4"
        listClassName="border-b border-line pb-2"
      >
        <TabPanel value="profile" hasControls className="flex flex-col gap-4">
          <UsernameCard user={user} />
          <EmailCard user={user} />
          <DeleteAccountCard user={user} />
        </TabPanel>
        <TabPanel value="security" hasControls className="flex flex-col gap-4">
          {user.thirdPartyOnly ? (
            <Notice>You log in through a third party. This account has no password.</Notice>
          ) : (
            <PasswordCard />
          )}
          <SessionsCard />
        </TabPanel>
        <TabPanel value="subscription" hasControls className="flex flex-col gap-4">
          <SubscriptionNotices user={user} />
          <CurrentPlan user={user} />
          <PlanChooser user={user} />
        </TabPanel>
      </Tabs>
    </Page>
  );
}
