import { DEFAULT_USER_SETTINGS } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { errorMessage } from '../../api/client.ts';
import { useSignedOut } from '../../api/connection.ts';
import { settingsQuery, useUser, userSettingsPreference } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Notice, Skeleton } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { SettingsForm } from './settings-form.tsx';
import { ThemeCard } from './theme-card.tsx';

/** General and notification settings, with a link back to the dashboard. */
export function SettingsPage() {
  return (
    <Page
      title="Settings"
      narrow
      before={
        <Button asChild variant="ghost" size="sm" className="mb-2 -ml-2.5">
          <Link to="/">
            <ArrowLeft /> Back to Dashboard
          </Link>
        </Button>
      }
    >
      <AccountSettings />
      <ThemeCard />
    </Page>
  );
}

function AccountSettings() {
  const user = useUser();
  const signedOut = useSignedOut();
  const settings = useQuery({ ...settingsQuery, enabled: user !== null && !signedOut });
  if (user === null || (signedOut && settings.data === undefined)) {
    return <SettingsForm user={null} settings={{ ...DEFAULT_USER_SETTINGS, ...userSettingsPreference.read() }} />;
  }
  if (settings.data !== undefined) return <SettingsForm user={signedOut ? null : user} settings={settings.data} />;
  if (settings.isError) {
    return (
      <Notice tone="bad">
        {errorMessage(settings.error, 'The settings could not be loaded.')}{' '}
        <button type="button" className="underline" onClick={() => void settings.refetch()}>
          Try again
        </button>
      </Notice>
    );
  }
  return (
    <div role="status" aria-label="Loading settings" className="flex flex-col gap-4">
      <Skeleton className="h-28" />
      <Skeleton className="h-60" />
    </div>
  );
}
