import { clsx } from 'clsx';
import { Columns2, Download, Save, Send, Trash2, X } from 'lucide-react';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useCommands } from '../../../ui/commands.ts';
import { DropdownMenu, MenuItem } from '../../../ui/dropdown-menu.tsx';
import { formatCount } from '../../../ui/format.ts';
import type { ExportFormat } from '../bulk/export-files.ts';
import { BAR } from './list-toolbar.tsx';

interface BulkBarProps {
  readonly count: number;
  /** Number of selected requests that are not saved yet. */
  readonly unsaved: number;
  readonly busy: boolean;
  readonly canSave: boolean;
  readonly onSave: () => void;
  readonly onDelete: () => void;
  readonly onExport: (format: ExportFormat) => void;
  readonly onReplay: () => void;
  /** Offered if two requests are selected. */
  readonly onCompare: (() => void) | undefined;
  readonly onClear: () => void;
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

/** Actions on all selected requests. */
export function BulkBar(props: BulkBarProps) {
  const { count, unsaved, busy, canSave, onSave, onDelete, onExport, onReplay, onCompare, onClear } = props;
  useCommands([
    {
      id: 'list.unmark',
      title: 'Clear the selection',
      group: 'Requests',
      keys: 'Escape',
      inPalette: false,
      run: onClear,
    },
  ]);
  return (
    <div className="@container shrink-0">
      <div role="toolbar" aria-label="Selected requests" className={clsx(BAR, 'gap-x-0.5 border-line bg-accent-soft')}>
        <span aria-live="polite" className="mr-1 font-medium whitespace-nowrap">
          {formatCount(count)} selected
        </span>
        {unsaved === 0 ? null : (
          <Button size="sm" variant="ghost" title="Save" disabled={!canSave} busy={busy} onClick={onSave}>
            <Save /> <Label>Save</Label>
          </Button>
        )}
        <Button size="sm" variant="ghost" title="Replay" disabled={!canSave} busy={busy} onClick={onReplay}>
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
            <MenuItem key={format} onSelect={() => onExport(format)}>
              {label}
            </MenuItem>
          ))}
        </DropdownMenu>
        {onCompare === undefined ? null : (
          <Button size="sm" variant="ghost" title="Compare" onClick={onCompare}>
            <Columns2 /> <Label>Compare</Label>
          </Button>
        )}
        <Button size="sm" variant="danger-ghost" title="Delete" busy={busy} onClick={onDelete}>
          <Trash2 /> <Label>Delete</Label>
        </Button>
        <IconButton label="Clear the selection" icon={<X />} className="ml-auto" onClick={onClear} />
      </div>
    </div>
  );
}
