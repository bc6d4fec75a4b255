import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { EMPTY_LIST, isInGap } from '../../../api/request-list.ts';
import type { RequestList } from '../../../api/request-list.ts';
import { holdLists } from '../../../api/list-cache.ts';
import { aroundQuery, gapQuery, requestListQuery } from '../../../api/request-queries.ts';
import { listItems, waitingOf } from '../list-items.ts';

/** Why new requests wait: the user has paused or scrolled the list, or moves the pointer or uses the keyboard there. */
export type HoldReason = 'paused' | 'scrolled' | 'attention';

export type ListState = ReturnType<typeof useList>;

/** The list of a filter. `around` is the index of a request. If it is in a gap, the rows around it are loaded. */
export function useList(uid: string, filter: RequestFilter, around = -1) {
  const { data, isPending, error, refetch } = useQuery(requestListQuery(uid, filter));
  const list = data ?? EMPTY_LIST;
  const holds = useHolds(uid, data !== undefined);
  // A search finds all of its rows by itself.
  useQuery({ ...aroundQuery(uid, filter, around), enabled: isInGap(list, around) && filter.query === undefined });
  const search = useSearchState(uid, filter, list, isPending);
  // Only a paused search shows its gap, whose row continues the search when it becomes visible.
  const hidesGaps = search !== undefined && search.progress !== 'paused';
  const items = useMemo(() => listItems(hidesGaps ? { ...list, gaps: [] } : list), [list, hidesGaps]);
  const waiting = useMemo(() => waitingOf(list), [list]);
  // When the last row that is shown is deleted, nothing is left that new requests could move.
  const isBlank = items.count === 0 && waiting.count > 0 && !holds.paused;
  const showWaiting = useEffectEvent(holds.showWaiting);
  useEffect(() => {
    if (isBlank) showWaiting();
  }, [isBlank]);
  return {
    items,
    /** Unsaved rows below this index are dropped on the server and shown only until the list is released. */
    droppedBelow: list.droppedBelow,
    waiting,
    ...holds,
    isLoading: isPending,
    error: list.rows.length === 0 ? error : null,
    refetch,
    /** Set if the list has a query. */
    search,
  };
}

/** What holds new requests back. The lists are held as they are when a reason appears, or when they are loaded. */
function useHolds(uid: string, isLoaded: boolean) {
  const [paused, setPausedState] = useState(false);
  const reasons = useRef(new Set<HoldReason>());
  /** Holds new requests back while there is a reason. */
  const update = (): void => holdLists(uid, reasons.current.size > 0);
  useEffect(() => {
    if (isLoaded && reasons.current.size > 0) holdLists(uid, true);
  }, [uid, isLoaded]);
  const hold = (reason: HoldReason, isHeld: boolean): void => {
    if (reasons.current.has(reason) === isHeld) return;
    if (isHeld) reasons.current.add(reason);
    else reasons.current.delete(reason);
    update();
  };
  return {
    paused,
    /** Adds or removes a reason to hold new requests back. */
    hold,
    setPaused(wanted: boolean): void {
      setPausedState(wanted);
      hold('paused', wanted);
    },
    /** The next list starts at its top, without pointer or focus. Only a pause stays. */
    leave(): void {
      reasons.current = new Set(paused ? ['paused'] : []);
      update();
    },
    showWaiting(): void {
      setPausedState(false);
      hold('paused', false);
      hold('scrolled', false);
      holdLists(uid, false);
      // While the user is busy in the list, what arrives from now on waits again.
      update();
    },
  };
}

/** A search pauses at this number of matches, so that a broad query does not load every request. */
const MAX_MATCHES_AT_ONCE = 1000;

/** The progress of a search in all stored requests of the endpoint. */
export type SearchState = NonNullable<ReturnType<typeof useSearchState>>;

/** Searches the gaps of a list one after the other, newest first. */
function useSearchState(uid: string, filter: RequestFilter, list: RequestList, isPending: boolean) {
  const gap = list.gaps[0];
  const isLast = list.gaps.length === 1 && gap?.after === -1;
  const pauses = isLast && list.rows.length >= MAX_MATCHES_AT_ONCE;
  const isWanted = filter.query !== undefined && gap !== undefined && !pauses;
  const step = useQuery({ ...gapQuery(uid, filter, gap ?? { before: 0, after: -1 }), enabled: isWanted });
  if (filter.query === undefined) return undefined;
  const failed = isWanted && step.isError;
  // Paused: enough matches are loaded. Scrolling to the end continues.
  const open = pauses ? 'paused' : 'searching';
  return {
    matches: list.rows.length,
    /** Number of stored requests that were looked at. */
    searched: list.searched,
    progress: failed ? 'failed' : isPending || gap !== undefined ? open : 'complete',
    error: failed ? step.error : null,
    refetch: step.refetch,
  } as const;
}
