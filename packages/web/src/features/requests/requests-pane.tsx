import { parseQuery } from '@creel/contract';
import type { EndpointDetail } from '@creel/contract';
import { clsx } from 'clsx';
import { useRef } from 'react';
import type { ComponentType, ReactNode } from 'react';
import type { ListedRequest } from '../../api/request-list.ts';
import { useCommands } from '../../ui/commands.ts';
import { keepsFocus, useFocusOnMount, useInertSurroundings } from '../../ui/focus.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { usePaneShare, PaneDivider } from '../../ui/pane-divider.tsx';
import { useDetailsCover } from '../../ui/state.ts';
import { useBulk } from './bulk/use-bulk.ts';
import { DetailsMissing, DroppedNotice } from './details/details-notices.tsx';
import { RequestDetails } from './details/request-details.tsx';
import type { DetailsParts } from './details/request-details.tsx';
import { EmptyEndpoint } from './list/empty-endpoint.tsx';
import { ListPane } from './list/list-pane.tsx';
import { MethodTabs } from './list/list-toolbar.tsx';
import { useList } from './list/use-list.ts';
import { useRequestActions, useStableActions } from './use-request-actions.ts';
import { useRequestKeys } from './use-request-keys.ts';
import { useSelection } from './use-selection.ts';
import { useChangeView, useViewState } from './use-view-state.ts';

const CompareView = lazyPart(async () => (await import('./compare/compare-view.tsx')).CompareView);

/**
 * In a narrow window the page scrolls, and what is above the requests scrolls with it. The minimum fits eight rows,
 * also at 200% zoom.
 */
const HEIGHT = 'h-[max(85dvh,28rem)] min-h-0 md:h-full';

/** Replays several requests in the order of capture. */
interface BulkReplayProps {
  readonly uid: string;
  readonly requests: readonly ListedRequest[];
  readonly onClose: () => void;
}

interface RequestsPaneProps {
  readonly endpoint: EndpointDetail;
  /** The same object in every rendering, because the details are memoized. */
  readonly parts: DetailsParts;
  /** Replays the marked requests. */
  readonly BulkReplay: ComponentType<BulkReplayProps>;
}

/** The list of requests and the details of the selected one. */
export function RequestsPane({ endpoint, parts, BulkReplay }: RequestsPaneProps) {
  const { uid } = endpoint;
  const view = useViewState();
  const changeView = useChangeView();
  const covers = useDetailsCover();
  const method = view.filter === 'all' ? undefined : view.filter?.toUpperCase();
  const filter = { method, query: validQuery(view.find) };
  const state = useList(uid, filter, view.request);
  const selection = useSelection(uid, state.items, filter, !covers);
  const actions = useRequestActions(uid, selection);
  const bulk = useBulk(endpoint, state.items, filter);
  const stableActions = useStableActions(uid, selection, actions, bulk);
  useRequestKeys({ endpoint, selection, actions, bulk });

  const { current } = selection;
  // The list of an endpoint without requests is empty before it is loaded.
  const isEmpty =
    (endpoint.requestCount === 0 || (method === undefined && !state.isLoading)) &&
    state.error === null &&
    state.items.count === 0 &&
    state.waiting.count === 0;
  if (isEmpty && bulk.hiddenCount === 0 && (view.find ?? '') === '' && current === undefined) {
    return (
      <div className="flex flex-col md:h-full">
        {/* As above a list, which has half of the width, so that the tabs do not move at the first request. */}
        <div className="@container shrink-0">
          <MethodTabs
            className="flex min-h-10 items-center border-b border-line px-3 py-1 pointer-coarse:min-h-13"
            listClassName="min-w-0 @max-[95rem]:gap-0 @max-[95rem]:*:px-1.5"
          />
        </div>
        <EmptyEndpoint endpoint={endpoint} />
      </div>
    );
  }

  if (view.compare !== undefined && current !== undefined && selection.other !== undefined) {
    const compare = (
      <CompareView
        uid={uid}
        left={selection.other}
        right={current}
        onLeft={(index) => changeView({ compare: index })}
        onRight={(request) => changeView({ request })}
        onClose={selection.back}
      />
    );
    return <div className={HEIGHT}>{covers ? <Cover>{compare}</Cover> : compare}</div>;
  }
  const list = (
    <ListPane
      endpoint={endpoint}
      filter={filter}
      state={state}
      selection={selection}
      actions={actions}
      stableActions={stableActions}
      bulk={bulk}
    />
  );
  const details =
    current === undefined ? (
      // Without a selection, the list says that it loads or is empty.
      selection.isMissing && <DetailsMissing onBack={covers ? selection.back : undefined} />
    ) : (
      <div key={current.index} className="flex h-full min-h-0 flex-col">
        {selection.isDropped ? (
          <DroppedNotice
            uid={uid}
            request={current}
            maxUnsaved={endpoint.retention.maxUnsaved}
            saving={actions.isSaving(current)}
            onSave={() => actions.save(current)}
          />
        ) : null}
        <div className="min-h-0 grow">
          <RequestDetails
            uid={uid}
            captureUrl={endpoint.url}
            listed={current}
            tab={view.tab}
            saving={actions.isSaving(current)}
            covers={covers}
            actions={stableActions}
            parts={parts}
          />
        </div>
      </div>
    );
  const open = view.request !== undefined;
  return (
    <>
      <SplitPane left={list} covers={covers}>
        {!covers ? (
          <DetailsColumn isOpen={open}>{details}</DetailsColumn>
        ) : open ? (
          <Cover>
            <CoveringDetails onClose={selection.back}>{details}</CoveringDetails>
          </Cover>
        ) : null}
      </SplitPane>
      {bulk.replaying === undefined ? null : (
        <BulkReplay uid={uid} requests={bulk.replaying} onClose={bulk.endReplay} />
      )}
    </>
  );
}

/** The query in the URL; `undefined` if it is empty or has a mistake. */
function validQuery(find: string | undefined): string | undefined {
  return find === undefined || find.trim() === '' || !parseQuery(find).ok ? undefined : find;
}

/** In the details of another request, the focus moves to the chosen tab. */
const CHOSEN_TAB = '[role="tab"][aria-selected="true"]';

/** This part stays when the selection changes, and with it the focus. Paper shows the list until a request is opened. */
function DetailsColumn({ isOpen, children }: { readonly isOpen: boolean; readonly children: ReactNode }) {
  return (
    <div {...keepsFocus(CHOSEN_TAB)} data-printed={isOpen || undefined} className="h-full outline-none">
      {children}
    </div>
  );
}

/** Covers the page except for the sidebar and, in a narrow window, the message about a lost connection. */
function Cover({ children }: { readonly children: ReactNode }) {
  const frame = useRef<HTMLDivElement>(null);
  useInertSurroundings(frame);
  return (
    <div
      ref={frame}
      data-printed
      className="fixed inset-0 z-30 animate-slide-in-right bg-bg max-md:group-data-disconnected/layout:pt-14 md:left-58"
    >
      {children}
    </div>
  );
}

/** Takes the focus. Escape closes it. */
function CoveringDetails({ onClose, children }: { readonly onClose: () => void; readonly children: ReactNode }) {
  const frame = useRef<HTMLDivElement>(null);
  useCommands([
    {
      id: 'request.close',
      title: 'Back to the list',
      group: 'Request',
      keys: 'Escape',
      inPalette: false,
      run: onClose,
    },
  ]);
  useFocusOnMount(frame);
  return (
    <div ref={frame} {...keepsFocus(CHOSEN_TAB)} className="h-full outline-offset-[-2px]">
      {children}
    </div>
  );
}

/** The left pane's share of the width. */
const BOUNDS = { initial: 0.505, min: 0.25, max: 0.75 };

interface SplitPaneProps {
  readonly left: ReactNode;
  /** The right pane covers the left one. */
  readonly covers: boolean;
  readonly children: ReactNode;
}

/**
 * Two panes with a divider that can be dragged or moved with the arrow keys. A double click resets it. The left pane stays
 * the same element when the right one covers it, so a field in it keeps its text and the focus.
 */
function SplitPane({ left, covers, children }: SplitPaneProps) {
  const frame = useRef<HTMLDivElement>(null);
  const pane = usePaneShare('requests', BOUNDS);
  return (
    <div ref={frame} className={clsx('flex min-w-0', covers ? ['relative overflow-clip', HEIGHT] : 'h-full min-h-0')}>
      <div className="min-w-0 shrink-0 print:w-full!" style={{ width: covers ? '100%' : `${pane.share * 100}%` }}>
        {left}
      </div>
      {covers ? (
        children
      ) : (
        <>
          <PaneDivider orientation="vertical" label="List and details" frame={() => frame.current} {...pane} />
          <div className="min-w-0 grow">{children}</div>
        </>
      )}
    </div>
  );
}
