import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { EMPTY_LIST, isInGap } from '../../../api/request-list.ts';
import type { RequestList } from '../../../api/request-list.ts';
import { holdLists } from '../../../api/list-cache.ts';
import { aroundQuery, gapQuery, requestListQuery } from '../../../api/request-queries.ts';
import { listItems, waitingOf } from '../list-items.ts';
import type { ListItems, Waiting } from '../list-items.ts';

/** The progress of a search in all stored requests of the endpoint. */
export interface SearchState {
  /** Number of matches that were found so far. */
  readonly matches: number;
  /** Number of stored requests that were looked at. */
  readonly searched: number;
  /** `paused`: enough matches are loaded; scrolling to the end continues. */
  readonly progress: 'searching' | 'paused' | 'complete' | 'failed';
  readonly error: unknown;
  readonly retry: () => void;
}

export interface ListState {
  readonly items: ListItems;
  /** Unsaved rows below this index are dropped on the server and shown only until the list is released. */
  readonly droppedBelow: number;
  readonly waiting: Waiting;
  readonly paused: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  /** Set if the list has a query. */
  readonly search: SearchState | undefined;
  readonly setPaused: (paused: boolean) => void;
  /** Called with the scroll position. New requests wait while the list is not at its top. */
  readonly setAtTop: (atTop: boolean) => void;
  /** Called when the pointer or the keyboard focus enters or leaves the list. Meanwhile, new requests wait. */
  readonly setAttended: (attended: boolean) => void;
  /** Shows the waiting requests. */
  readonly showWaiting: () => void;
}

/**
 * The list of a filter. Holds new requests back while it is paused or scrolled down. `around` is the index of a request
 * around which the list is loaded.
 */
export function useList(uid: string, filter: RequestFilter, around: number | undefined): ListState {
  const { data: list = EMPTY_LIST, isPending, error, refetch } = useQuery(requestListQuery(uid, filter));
  const [paused, setPausedState] = useState(false);
  const atTop = useRef(true);
  const attended = useRef(false);
  useRequestsAround(uid, filter, list, around);
  const search = useSearchState(uid, filter, list, isPending);
  // Only a paused search shows its gap, whose row continues the search when it becomes visible.
  const hidesGaps = search !== undefined && search.progress !== 'paused';
  const items = useMemo(() => listItems(hidesGaps ? { ...list, gaps: [] } : list), [list, hidesGaps]);
  const waiting = useMemo(() => waitingOf(list), [list]);
  const hold = (isHeld: boolean): void => holdLists(uid, isHeld);
  const update = (isPaused = paused): void => hold(isPaused || !atTop.current || attended.current);
  return {
    items,
    droppedBelow: list.droppedBelow,
    waiting,
    paused,
    isLoading: isPending,
    error: list.rows.length === 0 ? error : null,
    retry: () => void refetch(),
    search,
    setPaused(wanted) {
      setPausedState(wanted);
      update(wanted);
    },
    setAtTop(isAtTop) {
      if (isAtTop === atTop.current) return;
      atTop.current = isAtTop;
      update();
    },
    setAttended(isAttended) {
      if (isAttended === attended.current) return;
      attended.current = isAttended;
      update();
    },
    showWaiting() {
      setPausedState(false);
      atTop.current = true;
      hold(false);
      // While the list is attended, what arrives from now on waits again.
      if (attended.current) hold(true);
    },
  };
}

/** Loads the rows around a request that is in a gap. A search finds all of its rows by itself. */
function useRequestsAround(uid: string, filter: RequestFilter, list: RequestList, index = -1): void {
  useQuery({ ...aroundQuery(uid, filter, index), enabled: isInGap(list, index) && filter.query === undefined });
}

/** A search pauses at this number of matches, so that a broad query does not load every request. */
const MAX_MATCHES_AT_ONCE = 1000;

/** Searches the gaps of a list one after the other, newest first. */
function useSearchState(
  uid: string,
  filter: RequestFilter,
  list: RequestList,
  isPending: boolean,
): SearchState | undefined {
  const gap = list.gaps[0];
  const isLast = list.gaps.length === 1 && gap?.after === -1;
  const pauses = isLast && list.rows.length >= MAX_MATCHES_AT_ONCE;
  const isWanted = filter.query !== undefined && gap !== undefined && !pauses;
  const step = useQuery({ ...gapQuery(uid, filter, gap ?? { before: 0, after: -1 }), enabled: isWanted });
  if (filter.query === undefined) return undefined;
  const failed = isWanted && step.isError;
  const open = pauses ? 'paused' : 'searching';
  return {
    matches: list.rows.length,
    searched: list.searched,
    progress: failed ? 'failed' : isPending || gap !== undefined ? open : 'complete',
    error: failed ? step.error : null,
    retry: () => void step.refetch(),
  };
}
