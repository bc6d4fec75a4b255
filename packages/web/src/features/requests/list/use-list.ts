import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { holdRows } from '../../../api/limit-requests.ts';
import { EMPTY_LIST } from '../../../api/request-list.ts';
import { changeLists } from '../../../api/request-lists.ts';
import { requestListQuery } from '../../../api/request-queries.ts';
import { listItems, waitingOf } from '../list-items.ts';
import type { ListItems, Waiting } from '../list-items.ts';

export interface ListState {
  readonly items: ListItems;
  /** Unsaved rows below this index are dropped on the server and shown only until the list is released. */
  readonly droppedBelow: number;
  readonly waiting: Waiting;
  readonly paused: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly setPaused: (paused: boolean) => void;
  /** Called with the scroll position. New requests wait while the list is not at its top. */
  readonly setAtTop: (atTop: boolean) => void;
  /** Called when the pointer or the keyboard focus enters or leaves the list. Meanwhile, new requests wait. */
  readonly setAttended: (attended: boolean) => void;
  /** Shows the waiting requests. */
  readonly letIn: () => void;
}

/** The list of one filter. Holds new requests back while it is paused or scrolled down. */
export function useList(uid: string, method: string | undefined, find: string): ListState {
  const { data: list = EMPTY_LIST, isPending, error, refetch } = useQuery(requestListQuery(uid, method));
  const [paused, setPausedState] = useState(false);
  const [atTop, setAtTopState] = useState(true);
  const attended = useRef(false);
  const items = useMemo(() => listItems(list, find), [list, find]);
  const waiting = useMemo(() => waitingOf(list), [list]);
  const hold = (held: boolean): void =>
    changeLists(uid, (one) => holdRows(one, held ? (one.hold ?? one.newest) : undefined));
  return {
    items,
    droppedBelow: list.droppedBelow,
    waiting,
    paused,
    isLoading: isPending,
    error: list.rows.length === 0 ? error : null,
    retry: () => void refetch(),
    setPaused(wanted) {
      setPausedState(wanted);
      hold(wanted || !atTop || attended.current);
    },
    setAtTop(isAtTop) {
      if (isAtTop === atTop) return;
      setAtTopState(isAtTop);
      hold(paused || !isAtTop || attended.current);
    },
    setAttended(isAttended) {
      if (isAttended === attended.current) return;
      attended.current = isAttended;
      hold(paused || !atTop || isAttended);
    },
    letIn() {
      setPausedState(false);
      setAtTopState(true);
      hold(false);
      // What arrives from now on waits again.
      if (attended.current) hold(true);
    },
  };
}
