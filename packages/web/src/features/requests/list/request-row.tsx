import { queryOf } from '@creel/contract';
import { clsx } from 'clsx';
import { Eye, Save, Trash2 } from 'lucide-react';
import { memo } from 'react';
import type { MouseEvent, ReactNode } from 'react';
import { labelOf } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readable } from '../../../bodies/encoding.ts';
import { Badge, MethodBadge } from '../../../ui/badges.tsx';
import { DeliveryBadge } from '../delivery-badge.tsx';
import { formatSize, formatMoment, shortAge, timeAgo } from '../../../ui/format.ts';
import { useNow } from '../../../ui/state.ts';
import type { StableActions } from '../use-request-actions.ts';
import { SwipeActions } from './row-swipe.tsx';
import type { Swipe } from './row-swipe.tsx';

/**
 * The columns of the list: checkbox, Method, Source, Path, Size, Time, Actions. A narrow pane has no source column,
 * and shows the actions over size and time on hover. A long method takes width from the path.
 */
export const COLUMNS =
  'grid items-center gap-x-1.5 pr-2 grid-cols-[1.25rem_minmax(3rem,max-content)_minmax(0,1fr)_4.5rem_2rem] ' +
  '@md:grid-cols-[1.25rem_minmax(3rem,max-content)_3.5rem_minmax(0,1fr)_4.5rem_2rem_3.125rem]';

/** Pixels. A finger needs 44 px, and on a phone the row is the smallest target. `tall-row` of rows.css has its styles. */
export const ROW_HEIGHT = 36;
export const TALL_ROW_HEIGHT = 48;
export const TALL_ROWS = '((pointer: coarse) and (width < 768px)) or (width < 384px)';

/** The middle button of a mouse. */
const MIDDLE = 1;

interface RowContentProps {
  readonly request: ListedRequest;
  readonly selected: boolean;
  readonly marked: boolean;
  /** True while the user is asked whether to delete it. */
  readonly deleting: boolean;
  /** True if the server has dropped it. */
  readonly dropped: boolean;
  /** True if any row is marked. Then every row shows its checkbox. */
  readonly marking: boolean;
  readonly canSave: boolean;
  readonly actions: StableActions;
}

interface RequestRowProps extends RowContentProps {
  /** Position in the list, from 0. */
  readonly position: number;
  readonly top: number;
  readonly height: number;
  /** True for the row that the keyboard acts on. */
  readonly active: boolean;
  readonly fresh: boolean;
  /** Set while a swipe uncovers its actions. */
  readonly swipe: Swipe | undefined;
}

export const rowId = (index: number): string => `request-${index}`;

/** The cells whose text is the name of a row. Without this, its buttons and its checkbox would be part of the name. */
const NAMING_CELLS = ['method', 'source', 'path', 'size', 'age'] as const;
const cellId = (index: number, cell: (typeof NAMING_CELLS)[number]): string => `${rowId(index)}-${cell}`;
const markId = (index: number): string => `${rowId(index)}-mark`;

/** The name of a marked row says so, because the keyboard moves over rows without their checkboxes. */
function rowName(index: number, marked: boolean): string {
  const cells = NAMING_CELLS.map((cell) => cellId(index, cell)).join(' ');
  return marked ? `${markId(index)} ${cells}` : cells;
}

/** One captured request. Its position changes with every new request; its content does not. */
export function RequestRow({ position, top, height, active, fresh, swipe, ...content }: RequestRowProps) {
  const { request, selected, actions } = content;
  const click = (press: MouseEvent): void => {
    if (press.metaKey || press.ctrlKey || press.shiftKey) actions.onMark(request, press.shiftKey);
    else actions.onOpen(request);
  };
  return (
    // The grid has the focus and handles keys (aria-activedescendant). A row only handles the pointer.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={rowId(request.index)}
      role="row"
      aria-labelledby={rowName(request.index, content.marked)}
      aria-rowindex={position + 2}
      aria-selected={selected}
      data-fresh={fresh || undefined}
      data-active={active || undefined}
      data-deleting={content.deleting || undefined}
      data-index={request.index}
      onClick={click}
      // Like a link. The press would start to scroll.
      onMouseDown={(press) => (press.button === MIDDLE ? press.preventDefault() : undefined)}
      onAuxClick={(press) => (press.button === MIDDLE ? actions.onOpenInTab(request) : undefined)}
      className="request-row group absolute top-0 left-0 w-full"
      style={{ height, transform: `translateY(${top}px)` }}
    >
      {swipe === undefined ? null : <SwipeActions request={request} canSave={content.canSave} {...actions} />}
      <div
        role="presentation"
        data-moving={swipe?.isMoving}
        className="request-row-content h-full"
        style={{ transform: swipe && `translateX(${swipe.offset}px)` }}
      >
        <RowContent {...content} />
      </div>
    </div>
  );
}

/** Method, source, path and event, size, age and actions. */
const RowContent = memo(function RowContent(props: RowContentProps) {
  const { request, selected, marked, deleting, dropped, marking, actions } = props;
  const { source } = labelOf(request);
  const { index } = request;
  return (
    <div
      className={clsx(
        COLUMNS,
        'h-full border-b border-line select-none',
        deleting
          ? 'bg-bad-soft shadow-[inset_2px_0_0_var(--color-bad)]'
          : selected
            ? 'bg-selected shadow-[inset_2px_0_0_var(--color-accent)]'
            : 'hover:bg-sunk',
        dropped && 'text-ink-2',
      )}
    >
      {/* All of the cell marks, because the checkbox is smaller than 24 px (WCAG 2.5.8) and a press beside it would open the row. */}
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the checkbox has the keys */}
      <span
        role="gridcell"
        onClick={(press) => {
          press.stopPropagation();
          actions.onMark(request, press.shiftKey);
        }}
        className="-mr-1.5 grid h-full place-items-center pr-1.5 pointer-coarse:max-md:pointer-events-none"
      >
        {marked ? (
          <span id={markId(index)} hidden>
            Checked
          </span>
        ) : null}
        <input
          type="checkbox"
          tabIndex={selected ? 0 : -1}
          checked={marked}
          aria-label={`Select request ${index}`}
          onChange={() => undefined}
          className={clsx(
            'ml-1.5 size-3.5 accent-accent @md:ml-2',
            !marking && 'opacity-0 group-hover:opacity-100 focus-visible:opacity-100',
          )}
        />
      </span>
      <span role="gridcell" id={cellId(index, 'method')} className="text-sm">
        <MethodBadge method={request.method} />
      </span>
      <span
        role="gridcell"
        id={cellId(index, 'source')}
        title={source}
        className={clsx('hidden truncate text-sm @md:block', source === 'Unknown' ? 'text-ink-3' : 'text-ink-2')}
      >
        {source}
      </span>
      <PathCell request={request} dropped={dropped} />
      <span
        role="gridcell"
        id={cellId(index, 'size')}
        className="text-right font-mono text-sm whitespace-nowrap text-ink-2"
      >
        {formatSize(request.size)}
      </span>
      <Age request={request} />
      <Actions {...props} />
    </div>
  );
});

/**
 * Path and, dimmed, the event. Both are truncated before the badges are. An event with less room than a few characters
 * wraps to a second line, which is hidden. Its own width is the maximum, or a shorter event would always wrap. In a tall
 * row, the path has the first line, and the badges and the event the second.
 */
function PathCell({ request, dropped }: Pick<RowContentProps, 'request' | 'dropped'>) {
  const query = queryOf(request);
  const { event } = labelOf(request);
  const path = readable(request.path) || '/';
  return (
    <span
      role="gridcell"
      id={cellId(request.index, 'path')}
      className="flex min-w-0 items-center gap-1.5 tall-row:h-11 tall-row:flex-wrap tall-row:content-center-safe tall-row:gap-y-0.5 tall-row:overflow-hidden"
    >
      <span className="flex h-5 min-w-0 grow flex-wrap gap-x-2 overflow-hidden font-mono text-sm leading-5 tall-row:contents">
        <span className="max-w-full truncate text-ink tall-row:basis-full" title={path + query}>
          {path}
          {query === '' ? null : <span className="text-ink-3"> …</span>}
        </span>
        {event === '' && query === '' ? null : (
          <span className="max-w-max min-w-0 grow basis-12 truncate text-ink-3 tall-row:order-last">
            {event === '' ? query : event}
          </span>
        )}
      </span>
      <DeliveryBadge request={request} dense />
      {request.saved ? null : (
        <Badge tone={dropped ? 'neutral' : 'warning'} dense>
          {dropped ? 'Dropped' : 'Unsaved'}
        </Badge>
      )}
    </span>
  );
}

/** The short form fits the column. Screen readers get the long one. */
function Age({ request: { index, timestamp } }: Pick<RowContentProps, 'request'>) {
  const now = useNow();
  return (
    <span
      role="gridcell"
      id={cellId(index, 'age')}
      className="text-right font-mono text-sm whitespace-nowrap text-ink-2"
    >
      <time aria-hidden dateTime={timestamp} title={formatMoment(timestamp)}>
        {shortAge(timestamp, now)}
      </time>
      <span className="sr-only">{timeAgo(timestamp, now)}</span>
    </span>
  );
}

/** After a save, View details takes the place of Save, because Delete must not be where the user has just clicked. */
function Actions({ request, selected, canSave, actions }: RowContentProps) {
  return (
    <span
      role="gridcell"
      className={clsx(
        'flex justify-end gap-0.5 pointer-coarse:max-md:hidden group-hover:opacity-100 focus-within:opacity-100',
        '@max-md:absolute @max-md:right-2 @max-md:rounded-md @max-md:bg-panel @max-md:shadow-float',
        selected ? 'opacity-100 @max-md:opacity-0' : 'opacity-0',
      )}
    >
      {request.saved ? null : (
        <RowButton label="Save request" selected={selected} disabled={!canSave} run={() => actions.onSave(request)}>
          <Save />
        </RowButton>
      )}
      <RowButton label="View details" selected={selected} run={() => actions.onOpen(request)}>
        <Eye />
      </RowButton>
      {request.saved ? (
        <RowButton label="Delete request" selected={selected} run={() => actions.onDelete(request)}>
          <Trash2 />
        </RowButton>
      ) : null}
    </span>
  );
}

interface RowButtonProps {
  readonly label: string;
  readonly selected: boolean;
  readonly disabled?: boolean;
  readonly run: () => void;
  readonly children: ReactNode;
}

/** Cheaper to render than `IconButton`, because many rows mount while scrolling. */
function RowButton({ label, selected, disabled = false, run, children }: RowButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      disabled={disabled}
      tabIndex={selected ? 0 : -1}
      onClick={(press) => {
        press.stopPropagation();
        run();
      }}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded-md text-ink-2 hover:bg-line hover:text-ink disabled:opacity-50 [&_svg]:size-3.5"
    >
      {children}
    </button>
  );
}
