import { useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useState } from 'react';
import { CreateEndpointDialog } from '../features/endpoints/create-endpoint-dialog.tsx';
import { themePreference, THEMES } from '../features/settings/theme.tsx';
import { Kbd } from '../ui/button.tsx';
import { COMMAND_IDS, singleKeysPreference, useAllCommands, useCommands, showKeys } from '../ui/commands.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SwitchRow } from '../ui/switch.tsx';
import { useSignal } from '../ui/state.ts';
import { CommandPalette } from './command-palette.tsx';

/** The dialogs of every page, and the shortcuts that open them. */
export function ShellDialogs() {
  const [open, setOpen] = useState<'create' | 'palette' | 'help'>();
  useShellCommands();
  useCommands([
    {
      id: COMMAND_IDS.newEndpoint,
      title: 'Create endpoint',
      group: 'General',
      keys: 'n',
      run: () => setOpen('create'),
    },
    {
      id: COMMAND_IDS.palette,
      title: 'Command palette',
      group: 'General',
      keys: 'mod+k',
      run: () => setOpen('palette'),
      inPalette: false,
    },
    { id: COMMAND_IDS.help, title: 'Keyboard shortcuts', group: 'General', keys: '?', run: () => setOpen('help') },
  ]);
  const onClose = (): void => setOpen(undefined);
  return (
    <>
      {open === 'create' ? <CreateEndpointDialog onClose={onClose} /> : null}
      {open === 'palette' ? <CommandPalette onClose={onClose} /> : null}
      {open === 'help' ? <HelpOverlay onClose={onClose} /> : null}
    </>
  );
}

/** Commands of every page that don't open a dialog. */
function useShellCommands(): void {
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
    ...THEMES.map(({ value, label }) => ({
      id: `theme.${value}`,
      title: `${label} theme`,
      group: 'Theme',
      run: () => themePreference.set(value),
    })),
  ]);
}

/** All keyboard shortcuts of the current page. */
function HelpOverlay({ onClose }: { readonly onClose: () => void }) {
  const commands = useAllCommands();
  const hasSingleKeys = useSignal(singleKeysPreference);
  // If several commands have the same key, only the last one handles it.
  const byKeys = new Map(
    commands.flatMap((command) => (command.keys === undefined ? [] : [[command.keys, command] as const])),
  );
  const groups = [...Map.groupBy(byKeys, ([, { group }]) => group)];
  const hasTwoColumns = groups.length > 1;
  return (
    <Dialog
      onClose={onClose}
      width={hasTwoColumns ? 'md' : 'sm'}
      title="Keyboard shortcuts"
      description="Shortcuts are off while you type."
    >
      <div className={clsx('gap-x-8', hasTwoColumns && 'sm:columns-2')}>
        {groups.map(([group, members]) => (
          <section key={group} className="mb-5 break-inside-avoid">
            <h3 className="mb-1.5 text-sm font-medium text-ink-2">{group}</h3>
            <dl className="flex flex-col gap-1.5">
              {members.map(([keys, { title }]) => (
                <div key={keys} className="flex items-center justify-between gap-4">
                  <dt>{title}</dt>
                  <dd>
                    <Kbd isRead>{showKeys(keys)}</Kbd>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <SwitchRow
        label="Single-key shortcuts"
        description="Turn them off if speech input or a mistaken key press runs them. Shortcuts with Ctrl or ⌘ stay on."
        checked={hasSingleKeys}
        onCheckedChange={singleKeysPreference.set}
      />
    </Dialog>
  );
}
