import type { EndpointDetail } from '@creel/contract';
import { useRef } from 'react';
import { failureOf } from '../../../api/client.ts';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { LoadError } from '../../../ui/feedback.tsx';
import { focusPart, keepsFocus } from '../../../ui/focus.ts';
import type { Bulk } from '../bulk/use-bulk.ts';
import type { RequestActions, StableActions } from '../use-request-actions.ts';
import type { Selection } from '../use-selection.ts';
import { useChangeView, useViewState } from '../use-view-state.ts';
import { BulkBar } from './bulk-bar.tsx';
import { Arrivals, ListFooter } from './list-footer.tsx';
import { BeingDeleted, FilterInvalid, ListLoading, NoneOfMethod, NothingFound } from './list-states.tsx';
import { ListToolbar } from './list-toolbar.tsx';
import { RequestGrid } from './request-grid.tsx';
import type { ListState } from './use-list.ts';

interface ListPaneProps {
  readonly endpoint: EndpointDetail;
  readonly filter: RequestFilter;
  readonly state: ListState;
  readonly selection: Selection;
  readonly actions: RequestActions;
  readonly stableActions: StableActions;
  readonly bulk: Bulk;
}

/** Filter tabs and the list, or its empty state. */
export function ListPane(props: ListPaneProps) {
  const { endpoint, filter, state, selection, actions, bulk } = props;
  const pane = useRef<HTMLDivElement>(null);
  const toList = (): void => focusPart(pane.current);
  return (
    <div ref={pane} {...keepsFocus('[role="grid"]')} className="flex h-full min-h-0 flex-col outline-none">
      {bulk.requests.length > 0 ? (
        <BulkBar bulk={bulk} selection={selection} actions={actions} />
      ) : (
        <ListToolbar endpoint={endpoint} state={state} onLeave={toList} />
      )}
      <ListContent {...props} />
      <ListFooter endpoint={endpoint} filter={filter} search={state.search} bulk={bulk} />
      <Arrivals />
    </div>
  );
}

function ListContent({ endpoint, filter, state, selection, actions, stableActions, bulk }: ListPaneProps) {
  const view = useViewState();
  const changeView = useChangeView();
  const { items, waiting, search } = state;
  const { method, query } = filter;
  const clear = (): void => changeView({ find: undefined });
  // A query with a mistake does not become a part of the filter.
  if (query === undefined && (view.find ?? '').trim() !== '') return <FilterInvalid onClear={clear} />;
  if (state.error !== null) return <LoadError title="Failed to fetch temporary requests." {...failureOf(state)} />;
  if (state.isLoading && items.count === 0) return <ListLoading />;
  if (items.count === 0 && waiting.count === 0) {
    if (search?.progress === 'searching') return <ListLoading />;
    if (search?.progress === 'failed') return <LoadError title="The search failed" {...failureOf(search)} />;
    if (bulk.hiddenCount > 0) return <BeingDeleted count={bulk.hiddenCount} />;
    if (search !== undefined) return <NothingFound searched={endpoint.requestCount} method={method} onClear={clear} />;
    if (method !== undefined) return <NoneOfMethod onAll={() => changeView({ filter: undefined })} />;
  }
  return (
    <RequestGrid
      key={`${method ?? 'all'} ${query ?? ''}`}
      uid={endpoint.uid}
      filter={filter}
      state={state}
      // The list scrolls to the request of a link, even if its rows arrive before the request itself.
      selected={view.request ?? selection.current?.index}
      bulk={bulk}
      deleting={actions.deleting}
      actions={stableActions}
      onStep={selection.step}
    />
  );
}
