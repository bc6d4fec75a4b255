import { clsx } from 'clsx';
import { Columns2, Download, Save, Send, Trash2, X } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { Button, IconButton } from '../../../ui/button.tsx';
import { runCommand, useCommands } from '../../../ui/commands.ts';
import { DropdownMenu, MenuItem } from '../../../ui/dropdown-menu.tsx';
import { formatCount } from '../../../ui/format.ts';
import type { ExportFormat } from '../bulk/export-files.ts';
import type { Bulk } from '../bulk/use-bulk.ts';
import { useLoginReason } from '../use-request-actions.ts';
import type { RequestActions } from '../use-request-actions.ts';
import type { Selection } from '../use-selection.ts';
import { BAR, FILTER_COMMAND } from './list-toolbar.tsx';

interface BulkBarProps {
  readonly bulk: Bulk;
  readonly selection: Pick<Selection, 'compare'>;
  readonly actions: Pick<RequestActions, 'remove'>;
}

/** The labels of `EXPORT_FORMATS`, whose module is loaded when it is used. */
const FORMATS: readonly { format: ExportFormat; label: string }[] = [
  { format: 'har', label: 'HAR' },
  { format: 'jsonl', label: 'JSON lines, exact bodies' },
  { format: 'zip', label: 'Raw HTTP files in a zip' },
];

interface BarButtonProps extends Omit<ComponentProps<typeof Button>, 'title' | 'children'> {
  readonly label: string;
  readonly icon: ReactNode;
}

/** In a narrow bar, it has only its icon. */
function BarButton({ label, icon, ...button }: BarButtonProps) {
  return (
    <Button size="sm" variant="ghost" title={label} {...button}>
      {icon} <span className="@max-lg:pointer-fine:sr-only">{label}</span>
    </Button>
  );
}

/** Actions on all marked requests. */
export function BulkBar({ bulk, selection, actions }: BulkBarProps) {
  const { requests, clear } = bulk;
  const saveBlock = useLoginReason('save');
  const replayBlock = useLoginReason('replay');
  const busy = bulk.job !== undefined;
  const [right, left] = requests;
  const isPair = requests.length === 2 && left !== undefined && right !== undefined;
  const group = 'Requests';
  useCommands([
    { id: 'list.unmark', title: 'Clear the selection', group, keys: 'Escape', inPalette: false, run: clear },
    {
      id: FILTER_COMMAND,
      title: 'Filter the list',
      group,
      keys: '/',
      run() {
        clear();
        // The field is there after the next rendering.
        setTimeout(() => runCommand(FILTER_COMMAND));
      },
    },
  ]);
  return (
    <div className="@container shrink-0">
      <div role="toolbar" aria-label="Selected requests" className={clsx(BAR, 'gap-x-0.5 border-line bg-accent-soft')}>
        <span aria-live="polite" className="mr-1 font-medium whitespace-nowrap">
          {formatCount(requests.length)} selected
        </span>
        {requests.every((request) => request.saved) ? null : (
          <BarButton label="Save" icon={<Save />} busy={busy} reason={saveBlock} onClick={bulk.save} />
        )}
        <BarButton label="Replay" icon={<Send />} busy={busy} reason={replayBlock} onClick={bulk.replay} />
        <DropdownMenu align="start" trigger={<BarButton label="Export" icon={<Download />} busy={busy} />}>
          {FORMATS.map(({ format, label }) => (
            <MenuItem key={format} onSelect={() => bulk.exportAs(format)}>
              {label}
            </MenuItem>
          ))}
        </DropdownMenu>
        {isPair ? (
          <BarButton label="Compare" icon={<Columns2 />} onClick={() => selection.compare(left, right)} />
        ) : null}
        <BarButton
          label="Delete"
          icon={<Trash2 />}
          variant="danger-ghost"
          busy={busy}
          onClick={() => actions.remove(requests, clear)}
        />
        <IconButton label="Clear the selection" icon={<X />} className="ml-auto" onClick={clear} />
      </div>
    </div>
  );
}
