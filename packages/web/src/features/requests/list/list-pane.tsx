import type { EndpointDetail } from '@creel/contract';
import { useRef } from 'react';
import type { LiveStatus } from '../../../api/live-feed.ts';
import { knownValuesOf } from '../../../ui/query-completion.ts';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { readList } from '../../../api/list-cache.ts';
import { useFocusKept, listElement } from '../../../ui/focus.ts';
import type { Bulk } from '../bulk/use-bulk.ts';
import type { RequestActions } from '../use-request-actions.ts';
import type { Selection } from '../use-selection.ts';
import type { ChangeView, MethodTab, ViewState } from '../use-view-state.ts';
import { BulkBar } from './bulk-bar.tsx';
import { Arrivals, ListFoot } from './list-foot.tsx';
import { FilterInvalid, ListFailed, ListLoading, NoneOfMethod, NothingFound } from './list-states.tsx';
import { ListToolbar } from './list-toolbar.tsx';
import { RequestGrid } from './request-grid.tsx';
import type { ListState } from './use-list.ts';

interface ListPaneProps {
  readonly uid: string;
  readonly endpoint: EndpointDetail;
  readonly filter: RequestFilter;
  readonly methodTab: MethodTab;
  readonly state: ListState;
  readonly live: LiveStatus;
  readonly selection: Selection;
  readonly actions: RequestActions;
  readonly bulk: Bulk;
  readonly onAutosave: () => void;
  readonly view: ViewState;
  readonly changeView: ChangeView;
}

/** Filter tabs and the list, or its empty state. */
export function ListPane(props: ListPaneProps) {
  const { uid, endpoint, methodTab, state, live, actions, bulk, view, changeView, onAutosave } = props;
  const pane = useRef<HTMLDivElement>(null);
  const toList = (): void => (listElement() ?? pane.current)?.focus();
  useFocusKept(pane, listElement);
  const onMethodTab = (wanted: MethodTab): void => {
    state.showWaiting();
    changeView({ filter: wanted === 'all' ? undefined : wanted });
  };
  return (
    <div ref={pane} tabIndex={-1} className="flex h-full min-h-0 flex-col outline-none">
      {bulk.requests.length > 0 ? (
        <BulkBar bulk={bulk} selection={props.selection} actions={actions} />
      ) : (
        <ListToolbar
          methodTab={methodTab}
          onMethodTab={onMethodTab}
          find={view.find ?? ''}
          onFind={(find) => changeView({ find: find === '' ? undefined : find })}
          search={state.search}
          stored={endpoint.requestCount}
          known={() => knownValuesOf(readList(uid).rows)}
          live={live.state}
          paused={state.paused}
          onPaused={state.setPaused}
          onLeave={toList}
        />
      )}
      <ListContent {...props} />
      <ListFoot
        endpoint={endpoint}
        search={state.search}
        job={bulk.job}
        badFrames={live.badFrames}
        canSave={!actions.anonymous}
        onSaveAll={bulk.saveAll}
        onAutosave={onAutosave}
      />
      <Arrivals uid={uid} />
    </div>
  );
}

function ListContent({ uid, endpoint, filter, state, selection, actions, bulk, view, changeView }: ListPaneProps) {
  const { items, waiting, search } = state;
  const { method, query } = filter;
  const clear = (): void => changeView({ find: undefined });
  // A query with a mistake does not become a part of the filter.
  if (query === undefined && (view.find ?? '').trim() !== '') return <FilterInvalid onClear={clear} />;
  if (state.error !== null)
    return <ListFailed title="Failed to fetch temporary requests." error={state.error} onRetry={state.retry} />;
  if (state.isLoading && items.count === 0) return <ListLoading />;
  if (items.count === 0 && waiting.count === 0) {
    if (search?.progress === 'searching') return <ListLoading />;
    if (search?.progress === 'failed')
      return <ListFailed title="The search failed" error={search.error} onRetry={search.retry} />;
    if (search !== undefined) return <NothingFound searched={endpoint.requestCount} method={method} onClear={clear} />;
    if (method !== undefined) return <NoneOfMethod method={method} onAll={() => changeView({ filter: undefined })} />;
  }
  return (
    <RequestGrid
      key={`${method ?? 'all'} ${query ?? ''}`}
      uid={uid}
      filter={filter}
      state={state}
      selected={selection.current?.index}
      bulk={bulk}
      deleting={actions.deleting}
      canSave={!actions.anonymous}
      onStep={selection.step}
      onOpen={selection.open}
      onSave={actions.save}
      onDelete={(request) => actions.remove([request])}
      onMark={bulk.mark}
    />
  );
}
