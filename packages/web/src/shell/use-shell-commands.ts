import { useNavigate } from '@tanstack/react-router';
import { themePreference } from '../features/settings/theme.ts';
import { COMMAND_IDS, useCommands } from '../ui/commands.ts';

/** Commands of every page that don't open a dialog. */
export function useShellCommands(): void {
  const navigate = useNavigate();
  useCommands([
    {
      id: COMMAND_IDS.search,
      title: 'Search',
      group: 'General',
      keys: '/',
      run: () => void navigate({ to: '/search' }),
    },
    { id: 'go.home', title: 'Dashboard', group: 'Go to', run: () => void navigate({ to: '/' }) },
    { id: 'go.profile', title: 'Profile', group: 'Go to', run: () => void navigate({ to: '/profile' }) },
    { id: 'go.settings', title: 'Settings', group: 'Go to', run: () => void navigate({ to: '/settings' }) },
    {
      id: COMMAND_IDS.subscription,
      title: 'Subscription',
      group: 'Go to',
      run: () => void navigate({ to: '/subscription' }),
    },
    { id: 'theme.light', title: 'Light theme', group: 'Theme', run: () => themePreference.set('light') },
    { id: 'theme.dark', title: 'Dark theme', group: 'Theme', run: () => themePreference.set('dark') },
    { id: 'theme.system', title: 'System theme', group: 'Theme', run: () => themePreference.set('system') },
  ]);
}
