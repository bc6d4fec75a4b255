import { clsx } from 'clsx';
import { Pause, Play, Search, X } from 'lucide-react';
import { useRef } from 'react';
import type { LiveState } from '@creel/contract';
import { useCommands } from '../../../commands/use-commands.ts';
import { IconButton } from '../../../ui/icon-button.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import type { Filter } from '../use-view-state.ts';

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
}

/** Filter tabs, a field that narrows the list, the state of the live connection, pause (spec 2, design 7). */
export function ListToolbar({ filter, onFilter, find, onFind, live, paused, onPaused }: ListToolbarProps) {
  const field = useRef<HTMLInputElement>(null);
  useCommands([
    { id: 'list.filter', title: 'Filter the list', group: 'Requests', keys: '/', run: () => field.current?.focus() },
    {
      id: 'list.pause',
      title: paused ? 'Resume' : 'Pause',
      group: 'Requests',
      keys: 'p',
      run: () => onPaused(!paused),
    },
  ]);
  return (
    <div className="@container flex h-10 shrink-0 items-center gap-2 border-b border-line px-3">
      {/* Where the tabs don't fit, the last one fades, so that it is seen that there are more. */}
      <Tabs
        label="Filter by method"
        value={filter}
        onValueChange={onFilter}
        tabs={TABS}
        className="min-w-0"
        listClassName="pr-3 [mask-image:linear-gradient(to_right,black_calc(100%-1.25rem),transparent)]"
      />
      <div className="group relative ml-auto flex min-w-7 shrink items-center">
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
            press.currentTarget.blur();
          }}
          className={clsx(
            'h-7 rounded-md border border-transparent bg-transparent pr-6 pl-7 text-sm transition-[width] duration-100 hover:bg-sunk focus:border-line-strong focus:bg-panel focus:outline-none',
            find === '' ? 'w-7 focus:w-36 @xl:w-24' : 'w-36',
          )}
        />
        {find === '' ? null : (
          <IconButton label="Clear the filter" icon={<X />} className="absolute right-0.5" onClick={() => onFind('')} />
        )}
      </div>
      <LiveMark live={live} paused={paused} />
      <IconButton
        label={paused ? 'Resume' : 'Pause'}
        keys="p"
        icon={paused ? <Play /> : <Pause />}
        aria-pressed={paused}
        onClick={() => onPaused(!paused)}
      />
    </div>
  );
}

const LIVE_WORDS: Record<LiveState, string> = {
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
      {live === 'connected' && paused ? 'Paused' : LIVE_WORDS[live]}
    </span>
  );
}
