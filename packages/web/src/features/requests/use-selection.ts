import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { acceptsOf } from '../../api/request-filter.ts';
import type { RequestFilter } from '../../api/request-filter.ts';
import { isDropped, isInGap, rowOf } from '../../api/request-list.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { readList } from '../../api/list-cache.ts';
import { requestQuery } from '../../api/request-queries.ts';
import { neighbor } from './list-items.ts';
import type { ListItems } from './list-items.ts';
import { useChangeView, useLeaveView, useViewState } from './use-view-state.ts';

export type Selection = ReturnType<typeof useSelection>;

/**
 * The selected request: the one in the URL, else with `selectsFirst` the first of the list, which stays selected while
 * newer requests arrive. `filter` is that of the list.
 */
export function useSelection(uid: string, items: ListItems, filter: RequestFilter, selectsFirst: boolean) {
  const view = useViewState();
  const changeView = useChangeView();
  const leaveView = useLeaveView();
  useClearing(uid);
  const [lastShown, setLastShown] = useLastShown(uid);
  const list = readList(uid);
  const isLeftOut = lastShown !== undefined && (isDropped(list, lastShown) || isUnloaded(uid, filter, lastShown));
  const first = useFirst(items, selectsFirst && view.request === undefined, isLeftOut ? lastShown.index : undefined);
  const wanted = view.request ?? first;

  const named = useRequestAt(uid, items, wanted);
  if (named.request !== undefined) setLastShown(named.request);
  const current = named.request ?? (lastShown?.index === wanted ? lastShown : undefined);
  const other = useRequestAt(uid, items, view.compare);
  const open = (request: ListedRequest): void =>
    changeView({ request: request.index }, { push: view.request === undefined });
  return {
    /** The request in the details. */
    current,
    /** The request that it is compared with. */
    other: other.request,
    /** True if the server has dropped the request in the details. It stays until another one is opened. */
    isDropped: current !== undefined && (isDropped(list, current) || named.isMissing),
    /** True if the URL names a request that is not stored, and the page has no copy of it. */
    isMissing: named.isMissing && current === undefined,
    open,
    close: () => changeView({ request: undefined }),
    /** Closes the details or the comparison, and returns to where it was opened. */
    back: () => leaveView(view.compare === undefined ? { request: undefined } : { compare: undefined }),
    /** Moves to the next or previous request in the list. */
    step(by: 1 | -1): void {
      const next = neighbor(items, wanted, by);
      if (next !== undefined) open(next);
    },
    /** Moves the selection away from a request that is about to be removed. */
    leave(request: ListedRequest): void {
      if (request.index !== wanted) return;
      changeView({ request: (neighbor(items, wanted, 1) ?? neighbor(items, wanted, -1))?.index });
    },
    compare: (left: ListedRequest, right: ListedRequest): void =>
      changeView({ request: right.index, compare: left.index }, { push: true }),
  };
}

/** True if a list has left out a request that belongs to it, because too much arrived after it. */
function isUnloaded(uid: string, filter: RequestFilter, request: ListedRequest): boolean {
  return isInGap(readList(uid, filter), request.index) && acceptsOf(filter)(request) !== false;
}

/** The first request of the list. It stays selected while newer ones arrive, and while the list has left it out. */
function useFirst(items: ListItems, isWanted: boolean, leftOut: number | undefined): number | undefined {
  const [first, setFirst] = useState<number>();
  const isShown = first !== undefined && (items.positionOfIndex(first) >= 0 || first === leftOut);
  const top = items.rows[0]?.index;
  if (isWanted && !isShown && top !== first) setFirst(top);
  return isWanted && isShown ? first : undefined;
}

/** The request that was shown last, unless it was deleted or cleared. The server may have dropped it. */
function useLastShown(uid: string): readonly [ListedRequest | undefined, (request: ListedRequest) => void] {
  const [lastShown, setState] = useState<ListedRequest>();
  const { clearedTo, deleted } = readList(uid);
  const isUndeleted = lastShown !== undefined && lastShown.index > clearedTo && !deleted.has(lastShown.index);
  const setLastShown = (request: ListedRequest): void => {
    if (request !== lastShown) setState(request);
  };
  return [isUndeleted ? lastShown : undefined, setLastShown];
}

/** Clearing the endpoint clears the selection. The next request to arrive is then the first. */
function useClearing(uid: string): void {
  const view = useViewState();
  const changeView = useChangeView();
  const { clearedTo } = readList(uid);
  const isCleared = [view.request, view.compare].some((index) => index !== undefined && index <= clearedTo);
  useEffect(() => {
    if (isCleared) changeView({ request: undefined, compare: undefined });
  });
}

/** A request by its index: from the visible list, from the list of all methods, or from the server. */
function useRequestAt(uid: string, items: ListItems, index: number | undefined) {
  const listed = index === undefined ? undefined : (items.find(index) ?? rowOf(readList(uid), index));
  const asked = useQuery({ ...requestQuery(uid, index ?? -1), enabled: index !== undefined && listed === undefined });
  if (index === undefined || listed !== undefined) return { request: listed, isMissing: false };
  return { request: asked.data ?? undefined, isMissing: asked.data === null };
}
