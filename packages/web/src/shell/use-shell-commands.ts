import { useNavigate } from '@tanstack/react-router';
import { COMMAND_IDS } from '../ui/commands.ts';
import { useCommands } from '../ui/commands.ts';
import { themePreference } from '../features/settings/theme.ts';

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
    { id: 'theme.light', title: 'Light theme', group: 'Theme', run: () => themePreference.write('light') },
    { id: 'theme.dark', title: 'Dark theme', group: 'Theme', run: () => themePreference.write('dark') },
    { id: 'theme.system', title: 'System theme', group: 'Theme', run: () => themePreference.write('system') },
  ]);
}
