import { endpointTitle } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { endpointsQuery } from '../api/queries.ts';
import { CreateEndpointDialog } from '../features/endpoints/create-endpoint-dialog.tsx';
import { sortEndpoints } from '../features/endpoints/endpoint-labels.ts';
import { COMMAND_IDS, useAllCommands, useCommands } from '../ui/commands.ts';
import type { Command } from '../ui/commands.ts';
import { CommandPalette } from './command-palette.tsx';
import type { PaletteChoice } from './command-palette.tsx';
import { HelpOverlay } from './help-overlay.tsx';
import { useShellCommands } from './use-shell-commands.ts';

type Open = 'create' | 'palette' | 'help' | undefined;

/** The dialogs of every page, and the shortcuts that open them. */
export function ShellDialogs() {
  const [open, setOpen] = useState<Open>();
  const navigate = useNavigate();
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
  const onOpenChange = (isOpen: boolean): void => (isOpen ? undefined : setOpen(undefined));
  return (
    <>
      {open === 'create' ? (
        <CreateEndpointDialog
          open
          onOpenChange={onOpenChange}
          onCreated={(uid) => {
            setOpen(undefined);
            void navigate({ to: '/endpoints/$uid', params: { uid } });
          }}
        />
      ) : null}
      {open === 'palette' ? <Palette onOpenChange={onOpenChange} /> : null}
      {open === 'help' ? <HelpOverlay open onOpenChange={onOpenChange} /> : null}
    </>
  );
}

function Palette({ onOpenChange }: { readonly onOpenChange: (open: boolean) => void }) {
  const navigate = useNavigate();
  const commands = useAllCommands();
  const endpoints = useQuery(endpointsQuery);
  const toEndpoints = sortEndpoints(endpoints.data ?? []).map((endpoint): PaletteChoice => ({
    id: endpoint.uid,
    title: endpointTitle(endpoint),
    hint: 'Endpoint',
    run: () => void navigate({ to: '/endpoints/$uid', params: { uid: endpoint.uid } }),
  }));
  const { ofPage = [], ofShell = [] } = Object.groupBy(
    commands.filter((command) => command.inPalette !== false),
    ({ group }) => (SHELL_GROUPS.has(group) ? 'ofShell' : 'ofPage'),
  );
  return (
    <CommandPalette
      open
      onOpenChange={onOpenChange}
      choices={[...ofPage.map(toChoice), ...toEndpoints, ...ofShell.map(toChoice)]}
      onSearch={(q) => void navigate({ to: '/search', search: { q } })}
    />
  );
}

/** Groups of the commands that every page has. The palette offers those of the current page and the endpoints first. */
const SHELL_GROUPS = new Set(['General', 'Go to', 'Theme']);

const toChoice = (command: Command): PaletteChoice => ({ ...command, hint: command.group });
