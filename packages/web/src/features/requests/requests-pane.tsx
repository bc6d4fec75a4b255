import type { Endpoint } from '@creel/contract';
import { clsx } from 'clsx';
import { lazy, Suspense } from 'react';
import type { ComponentType } from 'react';
import { useLiveStatus } from '../../api/live-cache.ts';
import { useIsNarrow } from '../../ui/use-media.ts';
import { RequestDetails } from './details/request-details.tsx';
import type { BelowProps } from './details/request-details.tsx';
import { useDetailsActions } from './details/use-details-actions.ts';
import { DetailsMissing, NothingSelected } from './details/details-states.tsx';
import { ListPane } from './list/list-pane.tsx';
import { useList } from './list/use-list.ts';
import { SplitPane } from './split-pane.tsx';
import { useRequestActions } from './use-request-actions.ts';
import { useRequestKeys } from './use-request-keys.ts';
import { useSelection } from './use-selection.ts';
import { useViewState } from './use-view-state.ts';

const EmptyEndpoint = lazy(async () => ({ default: (await import('./list/empty-endpoint.tsx')).EmptyEndpoint }));
const CompareView = lazy(async () => ({ default: (await import('./compare/compare-view.tsx')).CompareView }));

/** In a narrow window the page scrolls, and what is above the requests scrolls away. */
const HEIGHT = 'h-[85dvh] min-h-0 md:h-full';

export interface RequestsPaneProps {
  readonly uid: string;
  readonly endpoint: Endpoint;
  /** What stands below the details of a request: the replay panel. */
  readonly Below?: ComponentType<BelowProps>;
}

/** What an endpoint has caught: the list, and the request that is looked at (spec 2). */
export function RequestsPane({ uid, endpoint, Below }: RequestsPaneProps) {
  const [view, changeView] = useViewState();
  const isNarrow = useIsNarrow();
  const filter = view.filter ?? 'all';
  const method = filter === 'all' ? undefined : filter.toUpperCase();
  const state = useList(uid, method, view.find ?? '');
  const live = useLiveStatus(uid);
  const selection = useSelection(uid, state.items, view, changeView, !isNarrow);
  const actions = useRequestActions(uid, state.items, selection);
  const detailsActions = useDetailsActions(selection, actions, changeView);
  useRequestKeys({ items: state.items, selection, actions, changeView, captureUrl: endpoint.url, uid });

  const { current } = selection;
  const isEmpty =
    filter === 'all' &&
    !state.isLoading &&
    state.error === null &&
    state.items.count === 0 &&
    state.waiting.count === 0;
  if (isEmpty && (view.find ?? '') === '' && current === undefined) {
    return (
      <Suspense fallback={null}>
        <EmptyEndpoint endpoint={endpoint} />
      </Suspense>
    );
  }

  if (view.compare !== undefined && current !== undefined && selection.other !== undefined) {
    return (
      <Suspense fallback={null}>
        <div className={HEIGHT}>
          <CompareView
            uid={uid}
            left={selection.other}
            right={current}
            choices={state.items.rows.slice(0, 200)}
            onLeft={(compare) => changeView({ compare })}
            onRight={(request) => changeView({ request })}
            onClose={() => changeView({ compare: undefined })}
          />
        </div>
      </Suspense>
    );
  }
  const list = (
    <ListPane
      uid={uid}
      endpoint={endpoint}
      method={method}
      filter={filter}
      state={state}
      live={live.state}
      selection={selection}
      actions={actions}
      view={view}
      changeView={changeView}
    />
  );
  const details =
    current === undefined ? (
      <NothingOrMissing missing={selection.isMissing} onBack={isNarrow ? selection.close : undefined} />
    ) : (
      <RequestDetails
        key={current.index}
        uid={uid}
        captureUrl={endpoint.url}
        listed={current}
        tab={view.tab}
        anonymous={actions.anonymous}
        canSave={!actions.anonymous}
        saving={actions.isSaving(current)}
        covers={isNarrow}
        actions={detailsActions}
        Below={Below}
      />
    );
  if (!isNarrow) return <SplitPane name="requests" label="List and details" left={list} right={details} />;
  const open = view.request !== undefined;
  return (
    <div className={clsx('relative overflow-hidden', HEIGHT)}>
      <div className="h-full" inert={open}>
        {list}
      </div>
      {open ? <div className="fixed inset-0 z-30 animate-slide-in-right bg-bg">{details}</div> : null}
    </div>
  );
}

interface NothingOrMissingProps {
  readonly missing: boolean;
  readonly onBack: (() => void) | undefined;
}

function NothingOrMissing({ missing, onBack }: NothingOrMissingProps) {
  return missing ? <DetailsMissing onBack={onBack} /> : <NothingSelected />;
}
