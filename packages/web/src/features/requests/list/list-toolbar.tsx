import { clsx } from 'clsx';
import { Pause, Play, Search, X } from 'lucide-react';
import { useRef } from 'react';
import type { LiveState } from '@creel/contract';
import { useCommands } from '../../../ui/commands.ts';
import { IconButton } from '../../../ui/icon-button.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import type { Filter } from '../use-view-state.ts';

/**
 * Classes of the bar above the list. The filters and the actions on selected requests have the same height, so that
 * the rows don't move.
 */
export const BAR = 'flex min-h-19 flex-wrap items-center gap-y-1 border-b px-3 py-1 @xl:min-h-10';

const TABS = [
  { value: 'all', label: 'All Requests' },
  { value: 'get', label: 'GET' },
  { value: 'post', label: 'POST' },
  { value: 'put', label: 'PUT' },
  { value: 'delete', label: 'DELETE' },
] as const;

export interface ListToolbarProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly find: string;
  readonly onFind: (find: string) => void;
  readonly live: LiveState;
  readonly paused: boolean;
  readonly onPaused: (paused: boolean) => void;
  /** Escape in the field moves the focus to the list. */
  readonly onLeave: () => void;
}

/** Filter tabs, filter field, state of the live connection, and the pause button. */
export function ListToolbar(props: ListToolbarProps) {
  const { filter, onFilter, find, onFind, live, paused, onPaused, onLeave } = props;
  useCommands([
    {
      id: 'list.pause',
      title: paused ? 'Resume' : 'Pause',
      group: 'Requests',
      keys: 'p',
      run: () => onPaused(!paused),
    },
  ]);
  return (
    <div className="@container shrink-0">
      {/* In a narrow pane, the tabs have their own line so that all of them are visible. */}
      <div className={clsx(BAR, 'gap-x-2 border-line')}>
        <Tabs
          label="Filter by method"
          value={filter}
          onValueChange={onFilter}
          tabs={TABS}
          className="grow basis-full @xl:basis-0"
          listClassName="flex-wrap"
        />
        <FindField find={find} onFind={onFind} onLeave={onLeave} />
        <LiveMark live={live} paused={paused} />
        <IconButton
          label={paused ? 'Resume' : 'Pause'}
          keys="p"
          icon={paused ? <Play /> : <Pause />}
          aria-pressed={paused}
          onClick={() => onPaused(!paused)}
        />
      </div>
    </div>
  );
}

/** Filters the list. In a wide pane the field expands when it is used; in a narrow one it fills the line. */
function FindField({ find, onFind, onLeave }: Pick<ListToolbarProps, 'find' | 'onFind' | 'onLeave'>) {
  const field = useRef<HTMLInputElement>(null);
  useCommands([
    { id: 'list.filter', title: 'Filter the list', group: 'Requests', keys: '/', run: () => field.current?.focus() },
  ]);
  return (
    <div className="group relative flex min-w-24 grow basis-0 items-center @xl:min-w-7 @xl:grow-0 @xl:basis-auto">
      <Search aria-hidden className="pointer-events-none absolute left-2 size-3.5 text-ink-3" />
      <input
        ref={field}
        type="text"
        value={find}
        aria-label="Filter the list"
        placeholder="Filter"
        onChange={(change) => onFind(change.target.value)}
        onKeyDown={(press) => {
          if (press.key !== 'Escape') return;
          onFind('');
          onLeave();
        }}
        className={clsx(
          'h-7 w-full rounded-md border border-line-strong bg-transparent pr-6 pl-7 text-sm transition-[width] duration-100',
          'hover:bg-sunk focus:border-line-strong focus:bg-panel focus:outline-none @xl:border-transparent',
          find === '' ? '@xl:w-24 @xl:focus:w-36' : '@xl:w-36',
        )}
      />
      {find === '' ? null : (
        <IconButton
          label="Clear the filter"
          icon={<X />}
          className="absolute right-0.5"
          onClick={() => {
            onFind('');
            field.current?.focus();
          }}
        />
      )}
    </div>
  );
}

const LIVE_LABELS: Record<LiveState, string> = {
  connecting: 'Connecting',
  connected: 'Live',
  disconnected: 'Offline',
  ended: 'Ended',
};

function LiveMark({ live, paused }: { readonly live: LiveState; readonly paused: boolean }) {
  const isLive = live === 'connected' && !paused;
  return (
    <span
      role="status"
      className={clsx(
        'flex shrink-0 items-center gap-1.5 text-sm font-medium',
        isLive ? 'text-ok' : live === 'connected' ? 'text-warn' : 'text-ink-2',
      )}
    >
      <span
        aria-hidden
        className={clsx('size-2 rounded-full', isLive ? 'bg-ok' : live === 'connected' ? 'bg-warn' : 'bg-ink-3')}
      />
      {live === 'connected' && paused ? 'Paused' : LIVE_LABELS[live]}
    </span>
  );
}
