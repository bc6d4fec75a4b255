import { useVirtualizer } from '@tanstack/react-virtual';
import type { VirtualItem } from '@tanstack/react-virtual';
import { ArrowUp } from 'lucide-react';
import { useCallback, useEffect, useEffectEvent, useRef } from 'react';
import type { KeyboardEvent, MouseEvent } from 'react';
import { useIsAnonymous } from '../../../api/queries.ts';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { isDropped } from '../../../api/request-list.ts';
import type { Gap, ListedRequest } from '../../../api/request-list.ts';
import type { GapEnd } from '../../../api/request-queries.ts';
import { keepsFocus } from '../../../ui/focus.ts';
import { formatCount } from '../../../ui/format.ts';
import { useMedia } from '../../../ui/state.ts';
import type { ListItems, Waiting } from '../list-items.ts';
import type { StableActions } from '../use-request-actions.ts';
import { GapRow } from './list-states.tsx';
import { ListHeader } from './list-toolbar.tsx';
import type { ListHeaderProps } from './list-toolbar.tsx';
import { RequestRow, ROW_HEIGHT, rowId, TALL_ROW_HEIGHT, TALL_ROWS } from './request-row.tsx';
import { openRowMenu, RowMenu } from './row-menu.tsx';
import { useSwipe } from './row-swipe.tsx';
import type { ListState } from './use-list.ts';
import { useAnchor, useAttention, useFresh, useScrollToSelected } from './use-steady-rows.ts';

/** Rows that are rendered outside the visible area. */
const OVERSCAN = 10;

/** Height of the column titles, which stay while the rows scroll. */
const TITLES = 28;

/** Pixels from the top that still count as the top. */
const TOP_PX = 4;

interface RequestGridProps {
  readonly uid: string;
  readonly filter: RequestFilter;
  readonly state: ListState;
  readonly selected: number | undefined;
  readonly bulk: ListHeaderProps['bulk'];
  readonly deleting: ReadonlySet<number>;
  readonly actions: StableActions;
  readonly onStep: (by: 1 | -1) => void;
}

/** The virtualized list: only visible rows are rendered. */
export function RequestGrid(props: RequestGridProps) {
  const { uid, filter, state, selected, bulk, deleting, actions } = props;
  const { marked } = bulk;
  const { items, waiting } = state;
  const canSave = !useIsAnonymous();
  const frame = useRef<HTMLDivElement>(null);
  const leave = useEffectEvent(state.leave);
  useEffect(() => () => leave(), []);
  const height = useMedia(TALL_ROWS) ? TALL_ROW_HEIGHT : ROW_HEIGHT;
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoized on what it returns
  const virtual = useVirtualizer({
    count: items.count,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: TITLES,
    scrollPaddingStart: TITLES,
    // A new function would make the virtualizer measure every row again.
    getItemKey: useCallback((position: number) => keyOf(items, position), [items]),
  });
  const { swipe, handlers } = useSwipe(items.find, canSave);
  const attention = useAttention(state.hold);
  const fresh = useFresh(items.rows[0]?.index);
  const selectedLine = selected === undefined ? -1 : items.positionOfIndex(selected);
  // Without a selected row, the first one shows the focus ring.
  const active = selectedLine < 0 ? items.rows[0]?.index : selected;
  useAnchor(frame, items, height);
  useScrollToSelected(virtual, selected, selectedLine);
  const toTop = (): void => {
    state.showWaiting();
    frame.current?.scrollTo({ top: 0 });
  };
  const shown = virtual.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const isActiveShown = active !== undefined && shown.some(({ key }) => key === active);
  useEffect(() => virtual.measure(), [virtual, height]);
  return (
    <div className="relative min-h-0 grow" {...attention}>
      {waiting.count === 0 ? null : <NewPill {...waiting} onClick={toTop} />}
      <div
        ref={frame}
        {...keepsFocus()}
        role="grid"
        aria-label="Captured requests"
        aria-rowcount={items.count + 1}
        aria-activedescendant={isActiveShown ? rowId(active) : undefined}
        tabIndex={0}
        onKeyDown={(press) => onListKey(press, active === undefined ? undefined : items.find(active), props)}
        onContextMenu={(press) => onListMenu(press, active)}
        onScroll={(scroll) => state.hold('scrolled', scroll.currentTarget.scrollTop > TOP_PX)}
        className="@container h-full overflow-y-auto overscroll-contain outline-none"
      >
        <ListHeader shown={items.rows.length} bulk={bulk} />
        <RowMenu find={items.find} marked={marked} canSave={canSave} actions={actions} onMarkAll={bulk.markAll}>
          <div
            role="rowgroup"
            className="request-rows relative"
            data-busy={fresh.busy || undefined}
            style={{ height: virtual.getTotalSize() }}
            {...handlers}
          >
            {shown.map(({ index: position, start }) => {
              const item = items.at(position);
              if (item === undefined) return null;
              if (item.kind === 'gap') {
                return (
                  <GapRow
                    key={`gap-${item.gap.before}`}
                    uid={uid}
                    filter={filter}
                    gap={item.gap}
                    end={gapEnd(item.gap, position, shown)}
                    position={position}
                    top={start - TITLES}
                    height={height}
                  />
                );
              }
              const { request } = item;
              return (
                <RequestRow
                  // In a stream, rows are keyed by position: the elements stay and only their content changes.
                  key={fresh.busy ? `line-${position - first}` : request.index}
                  request={request}
                  position={position}
                  top={start - TITLES}
                  height={height}
                  active={request.index === active}
                  selected={request.index === selected}
                  marked={marked.has(request.index)}
                  deleting={deleting.has(request.index)}
                  dropped={isDropped(state, request)}
                  marking={marked.size > 0}
                  fresh={request.index > fresh.after}
                  swipe={swipe?.index === request.index ? swipe : undefined}
                  canSave={canSave}
                  actions={actions}
                />
              );
            })}
          </div>
        </RowMenu>
      </div>
    </div>
  );
}

/** A gap in the upper half of the rendered rows was reached from below. The last gap has no rows below it. */
function gapEnd(gap: Gap, position: number, shown: readonly VirtualItem[]): GapEnd {
  if (gap.after < 0) return 'newest';
  const middle = ((shown[0]?.index ?? 0) + (shown.at(-1)?.index ?? 0)) / 2;
  return position < middle ? 'oldest' : 'newest';
}

/** Arrows, Home and End move the selection. On the list itself, Enter opens the active row and Ctrl+A marks all. */
function onListKey(press: KeyboardEvent, active: ListedRequest | undefined, props: RequestGridProps): void {
  const isOnList = press.target === press.currentTarget;
  if (press.key === 'ArrowDown') props.onStep(1);
  else if (press.key === 'ArrowUp') props.onStep(-1);
  else if (press.key === 'Home' || press.key === 'End') openEnd(press.key, props);
  else if (isOnList && press.key === 'Enter' && active !== undefined) props.actions.onOpen(active);
  else if (isOnList && press.key === 'a' && (press.ctrlKey || press.metaKey)) props.bulk.markAll();
  else return;
  press.preventDefault();
}

/** Opens the first or the last request that is loaded. */
function openEnd(key: 'Home' | 'End', { state, actions }: RequestGridProps): void {
  const end = state.items.rows.at(key === 'Home' ? 0 : -1);
  if (end !== undefined) actions.onOpen(end);
}

/** The right button of a mouse. */
const RIGHT = 2;

/** The menu key and Shift+F10 open the menu of the active row, because the list itself has the focus. */
function onListMenu(press: MouseEvent, active: number | undefined): void {
  if (press.target !== press.currentTarget || press.button === RIGHT || active === undefined) return;
  if (openRowMenu(document.getElementById(rowId(active)))) press.preventDefault();
}

function keyOf(items: ListItems, position: number): string | number {
  const item = items.at(position);
  if (item === undefined) return position;
  return item.kind === 'gap' ? `gap-${item.gap.before}` : item.request.index;
}

function NewPill({ count, more, onClick }: Waiting & { readonly onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="absolute top-0 left-1/2 z-15 flex h-7 -translate-x-1/2 animate-rise-in items-center gap-1.5 rounded-full bg-accent px-3 text-sm font-medium text-accent-ink shadow-float hover:bg-accent-strong [&_svg]:size-3.5"
    >
      <ArrowUp aria-hidden />
      {formatCount(count)}
      {more ? '+' : ''} new
    </button>
  );
}
