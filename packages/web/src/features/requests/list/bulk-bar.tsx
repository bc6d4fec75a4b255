import { clsx } from 'clsx';
import { Columns2, Download, Save, Send, Trash2, X } from 'lucide-react';
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

/** In a narrow bar, a button has only its icon. */
const Label = ({ children }: { readonly children: string }) => (
  <span className="@max-lg:pointer-fine:sr-only">{children}</span>
);

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
          <Button size="sm" variant="ghost" title="Save" busy={busy} reason={saveBlock} onClick={bulk.save}>
            <Save /> <Label>Save</Label>
          </Button>
        )}
        <Button size="sm" variant="ghost" title="Replay" busy={busy} reason={replayBlock} onClick={bulk.replay}>
          <Send /> <Label>Replay</Label>
        </Button>
        <DropdownMenu
          align="start"
          trigger={
            <Button size="sm" variant="ghost" title="Export" busy={busy}>
              <Download /> <Label>Export</Label>
            </Button>
          }
        >
          {FORMATS.map(({ format, label }) => (
            <MenuItem key={format} onSelect={() => bulk.exportAs(format)}>
              {label}
            </MenuItem>
          ))}
        </DropdownMenu>
        {isPair ? (
          <Button size="sm" variant="ghost" title="Compare" onClick={() => selection.compare(left, right)}>
            <Columns2 /> <Label>Compare</Label>
          </Button>
        ) : null}
        <Button
          size="sm"
          variant="danger-ghost"
          title="Delete"
          busy={busy}
          onClick={() => actions.remove(requests, clear)}
        >
          <Trash2 /> <Label>Delete</Label>
        </Button>
        <IconButton label="Clear the selection" icon={<X />} className="ml-auto" onClick={clear} />
      </div>
    </div>
  );
}
