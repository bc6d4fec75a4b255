import { DEFAULT_USER_SETTINGS } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { ArrowLeft } from 'lucide-react';
import { RadioGroup } from 'radix-ui';
import { errorMessage } from '../../api/client.ts';
import { useSignedOut } from '../../api/session.ts';
import { settingsQuery, useUser, userSettingsPreference } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Loading, Notice } from '../../ui/feedback.tsx';
import { Page, SectionCard } from '../../ui/page.tsx';
import { SettingsForm } from './settings-form.tsx';
import { THEMES, useTheme } from './theme.tsx';

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
      <Notice tone="bad" onRetry={() => void settings.refetch()}>
        {errorMessage(settings.error, 'The settings could not be loaded.')}
      </Notice>
    );
  }
  return <Loading label="Loading settings" bars={['h-28', 'h-60']} className="gap-4" />;
}

/** Light, dark or system theme; stored in this browser. */
function ThemeCard() {
  const [theme, chooseTheme] = useTheme();
  return (
    <SectionCard title="Appearance" description="Stored in this browser.">
      <RadioGroup.Root
        aria-label="Theme"
        value={theme}
        onValueChange={chooseTheme}
        className="grid max-w-md grid-cols-3 gap-2"
      >
        {THEMES.map(({ value, label, icon }) => (
          <RadioGroup.Item
            key={value}
            value={value}
            className={clsx(
              'flex h-9 items-center justify-center gap-2 rounded-md border font-medium transition-colors duration-100 [&_svg]:size-4',
              'data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft data-[state=checked]:text-accent',
              'border-line-strong hover:bg-sunk',
            )}
          >
            {icon}
            {label}
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </SectionCard>
  );
}
