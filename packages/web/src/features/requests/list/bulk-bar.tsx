import { clsx } from 'clsx';
import { Columns2, Download, Save, Trash2, X } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import { useCommands } from '../../../ui/commands.ts';
import { IconButton } from '../../../ui/icon-button.tsx';
import { BAR } from './list-toolbar.tsx';

export interface BulkBarProps {
  readonly count: number;
  /** Number of selected requests that are not saved yet. */
  readonly unsaved: number;
  readonly busy: boolean;
  readonly canSave: boolean;
  readonly onSave: () => void;
  readonly onDelete: () => void;
  readonly onDownload: () => void;
  /** Offered if two requests are selected. */
  readonly onCompare: (() => void) | undefined;
  readonly onClear: () => void;
}

/** Actions on all selected requests. */
export function BulkBar({
  count,
  unsaved,
  busy,
  canSave,
  onSave,
  onDelete,
  onDownload,
  onCompare,
  onClear,
}: BulkBarProps) {
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
      <div role="toolbar" aria-label="Marked requests" className={clsx(BAR, 'gap-x-1 border-line bg-accent-soft')}>
        <span aria-live="polite" className="mr-1 font-medium whitespace-nowrap">
          {count} selected
        </span>
        {unsaved === 0 ? null : (
          <Button size="sm" variant="ghost" disabled={!canSave} busy={busy} onClick={onSave}>
            <Save /> Save
          </Button>
        )}
        <Button size="sm" variant="danger-ghost" busy={busy} onClick={onDelete}>
          <Trash2 /> Delete
        </Button>
        <Button size="sm" variant="ghost" busy={busy} onClick={onDownload}>
          <Download /> HAR
        </Button>
        {onCompare === undefined ? null : (
          <Button size="sm" variant="ghost" onClick={onCompare}>
            <Columns2 /> Compare
          </Button>
        )}
        <IconButton label="Clear the selection" icon={<X />} className="ml-auto" onClick={onClear} />
      </div>
    </div>
  );
}
