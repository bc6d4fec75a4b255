import type { Endpoint, LiveState } from '@creel/contract';
import { clsx } from 'clsx';
import { Pause, Play } from 'lucide-react';
import { readList } from '../../../api/list-cache.ts';
import { useLiveStatus } from '../../../api/live-feed.ts';
import { IconButton } from '../../../ui/button.tsx';
import { useCommands } from '../../../ui/commands.ts';
import { knownValuesOf } from '../../../ui/query-completion.ts';
import { QueryField } from '../../../ui/query-field.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import type { Bulk } from '../bulk/use-bulk.ts';
import { useChangeView, useViewState } from '../use-view-state.ts';
import { COLUMNS } from './request-row.tsx';
import type { ListState } from './use-list.ts';

/**
 * Classes of the bar above the list: one line, or two in a narrow list. The filters and the actions on marked
 * requests have the same height, so that the rows don't move.
 */
export const BAR =
  'flex min-h-10 flex-wrap items-center gap-y-1 border-b px-3 py-1 @max-lg:min-h-18 @max-lg:content-center ' +
  'pointer-coarse:min-h-13 pointer-coarse:@max-lg:min-h-25';

/** In one line with little room, the filter field covers the tabs while it has the focus. */
const FIELD = 'min-w-16 grow basis-0 @lg:@max-3xl:focus-within:absolute inset-x-0 top-0 z-10 focus-within:bg-bg';

/** The command that focuses the filter field. */
export const FILTER_COMMAND = 'list.filter';

const TABS = [
  { value: 'all', label: 'All Requests' },
  { value: 'get', label: 'GET' },
  { value: 'post', label: 'POST' },
  { value: 'put', label: 'PUT' },
  { value: 'delete', label: 'DELETE' },
] as const;

interface MethodTabsProps {
  /** Called before the list of another method is shown. */
  readonly onChoose?: () => void;
  readonly className: string;
  readonly listClassName: string;
}

/** The tabs that filter the list by method. */
export function MethodTabs({ onChoose, ...look }: MethodTabsProps) {
  const { filter = 'all' } = useViewState();
  const changeView = useChangeView();
  return (
    <Tabs
      label="Filter by method"
      value={filter}
      onValueChange={(tab) => {
        onChoose?.();
        changeView({ filter: tab === 'all' ? undefined : tab });
      }}
      tabs={TABS}
      {...look}
    />
  );
}

interface ListToolbarProps {
  readonly endpoint: Endpoint;
  readonly state: ListState;
  /** Escape in the field moves the focus to the list. */
  readonly onLeave: () => void;
}

/** Filter tabs, the filter field, the state of the live connection, and the pause button. */
export function ListToolbar({ endpoint, state, onLeave }: ListToolbarProps) {
  const { find = '' } = useViewState();
  const changeView = useChangeView();
  const { uid, requestCount } = endpoint;
  const { search, paused, setPaused } = state;
  const pauseLabel = paused ? 'Resume the list' : 'Pause the list';
  const onPause = (): void => setPaused(!paused);
  useCommands([{ id: 'list.pause', title: pauseLabel, group: 'Requests', keys: 'p', run: onPause }]);
  return (
    // The suggestions of the field are above the list.
    <div className="@container relative z-20 shrink-0">
      <div className={clsx(BAR, 'gap-x-2 border-line')}>
        <div className="relative flex min-w-0 grow basis-0 items-center gap-2 @max-lg:contents">
          <MethodTabs
            onChoose={state.showWaiting}
            className="shrink-0 @max-lg:basis-full"
            listClassName="@max-3xl:gap-0 @max-3xl:*:px-1.5"
          />
          <QueryField
            compact
            label="Filter the list"
            placeholder="Filter requests"
            query={find}
            onQuery={(query) => changeView({ find: query === '' ? undefined : query })}
            known={() => knownValuesOf(readList(uid).rows)}
            command={{ id: FILTER_COMMAND, title: 'Filter the list', group: 'Requests', keys: '/' }}
            onLeave={onLeave}
            className={FIELD}
          />
        </div>
        <div className="ml-auto flex shrink-0 items-center gap-2">
          <LiveIndicator paused={paused} />
          <IconButton
            label={pauseLabel}
            keys="p"
            icon={paused ? <Play /> : <Pause />}
            data-on={paused || undefined}
            onClick={onPause}
          />
        </div>
      </div>
      {search?.progress === 'searching' ? (
        <div
          aria-hidden
          className="absolute bottom-0 left-0 h-0.5 bg-accent transition-[width] duration-100"
          style={{ width: `${Math.min(100, (100 * search.searched) / Math.max(requestCount, 1))}%` }}
        />
      ) : null}
    </div>
  );
}

const LIVE_LABELS: Record<LiveState, string> = {
  connecting: 'Connecting',
  connected: 'Live',
  disconnected: 'Offline',
  ended: 'Ended',
};

/**
 * As wide as “Offline” in every state, so that the filter field does not move. “Connecting” is longer, so a dot stands
 * for it.
 */
function LiveIndicator({ paused }: { readonly paused: boolean }) {
  const { state: live } = useLiveStatus();
  const isLive = live === 'connected' && !paused;
  const isConnecting = live === 'connecting';
  return (
    <span
      role="status"
      title={isConnecting ? LIVE_LABELS.connecting : undefined}
      className={clsx(
        'relative flex shrink-0 items-center gap-1.5 text-sm font-medium',
        isLive ? 'text-ok' : live === 'connected' ? 'text-warn' : 'text-ink-2',
      )}
    >
      <span
        aria-hidden
        className={clsx('size-2 rounded-full', isLive ? 'bg-ok' : live === 'connected' ? 'bg-warn' : 'bg-ink-3')}
      />
      <span className="min-w-[3.6em]">
        <span className={clsx(isConnecting && 'sr-only')}>
          {live === 'connected' && paused ? 'Paused' : LIVE_LABELS[live]}
        </span>
      </span>
    </span>
  );
}

export interface ListHeaderProps {
  /** Number of loaded rows. */
  readonly shown: number;
  readonly bulk: Pick<Bulk, 'marked' | 'markAll' | 'clear' | 'job'>;
}

/** The titles of the columns, and the checkbox that marks all requests that match. */
export function ListHeader({ shown, bulk }: ListHeaderProps) {
  const { marked, markAll, clear, job } = bulk;
  const isAll = marked.size > 0 && marked.size >= shown;
  // There is no attribute for this state.
  const setIndeterminate = (box: HTMLInputElement | null): void => {
    if (box !== null) box.indeterminate = marked.size > 0 && !isAll;
  };
  return (
    <div role="rowgroup" className="sticky top-0 z-10 bg-bg">
      <div role="row" aria-rowindex={1} className={`${COLUMNS} h-7 border-b border-line text-sm text-ink-2`}>
        <span role="columnheader">
          <input
            ref={setIndeterminate}
            type="checkbox"
            checked={isAll}
            // Disabled, it would lose the focus while the requests are read.
            aria-disabled={job !== undefined}
            aria-label={marked.size > 0 ? 'Clear the selection' : 'Select all that match'}
            title={marked.size > 0 ? 'Clear the selection' : 'Select all that match'}
            onChange={marked.size > 0 ? clear : markAll}
            className="ml-1.5 block size-3.5 accent-accent @md:ml-2 pointer-coarse:max-md:hidden"
          />
        </span>
        <span role="columnheader">Method</span>
        <span role="columnheader" className="hidden @md:block">
          Source
        </span>
        <span role="columnheader">Path</span>
        <span role="columnheader" className="text-right">
          Size
        </span>
        <span role="columnheader" className="text-right">
          Time
        </span>
        <span role="columnheader" className="hidden text-right @md:block">
          Actions
        </span>
      </div>
    </div>
  );
}
